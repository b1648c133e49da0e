import { meansOf, type Mean } from './changes.ts';
import type { Outcomes } from './runs.ts';

const MAX_ATTEMPTS = 1.03;
const MAX_TIME = 1.03;
/** Above this, small tenants are touched. */
const MAX_SMALL = 1.1;

const HEAD = `| scenario | lost | disabled | attempts | clear ÷ ideal | goodput | small tenants: lost, p99 (s) | missed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
`;

/**
 * Compares the outcomes of an earlier version with those of the present one, by the means of the seeds that both have.
 *
 * The goals: nothing lost and no endpoint disabled that was not before, at most 3 % more attempts and time, and the p99
 * of small tenants as it was.
 */
export function compare(before: Outcomes, after: Outcomes): string {
  const names = Object.keys(after).filter((name) => before[name] !== undefined);
  let missed = 0;
  const rows = names.map((name) => {
    const seeds = Math.min(before[name]?.length ?? 0, after[name]?.length ?? 0);
    const [one, other] = [before, after].map(
      (outcomes) => meansOf({ [name]: (outcomes[name] ?? []).slice(0, seeds) })[name] ?? null,
    ) as [Mean, Mean];
    const misses = missesOf(one, other);
    if (misses.length > 0) missed += 1;
    return rowOf(name, one, other, misses);
  });
  return `${HEAD}${rows.join('\n')}\n\nMissed in ${String(missed)} of ${String(names.length)} scenarios.\n`;
}

function missesOf(before: Mean, after: Mean): string[] {
  if (before === null) return [];
  if (after === null) return ['settles'];
  const above = (one: number | null, other: number | null, factor: number): boolean =>
    one !== null && other !== null && other > one * factor;
  return [
    ...(above(before.lost, after.lost, before.lost === 0 ? 1 : MAX_ATTEMPTS) ? ['lost'] : []),
    ...(above(before.smallLost, after.smallLost, 1) ? ['lost of small tenants'] : []),
    ...(above(before.off, after.off, 1) ? ['disabled'] : []),
    ...(above(before.attempts, after.attempts, MAX_ATTEMPTS) ? ['attempts'] : []),
    ...(above(before.clear, after.clear, MAX_TIME) ? ['time'] : []),
    ...(above(before.smallP99, after.smallP99, MAX_SMALL) ? ['p99 of small tenants'] : []),
  ];
}

function rowOf(name: string, before: Mean, after: Mean, misses: readonly string[]): string {
  if (before === null || after === null) return `| ${name} | | | | | | | ${misses.join(', ')} |`;
  const pair = (one: number | null, other: number | null, digits: number): string => {
    const [from, to] = [one, other].map((value) => value?.toFixed(digits) ?? '–');
    return from === to ? String(to) : `${String(from)} → ${String(to)}`;
  };
  const small =
    after.smallP99 === null
      ? ''
      : `${pair(before.smallLost, after.smallLost, 1)}, ${pair(before.smallP99, after.smallP99, 0)}`;
  const cells = [
    ...[name, pair(before.lost, after.lost, 1), pair(before.off, after.off, 1)],
    ...[pair(before.attempts, after.attempts, 3), pair(before.clear, after.clear, 3)],
    ...[pair(before.goodput, after.goodput, 3), small, misses.map((miss) => `**${miss}**`).join(', ')],
  ];
  return `| ${cells.join(' | ')} |`;
}
