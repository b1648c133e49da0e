import { describe, expect, it } from 'vitest';
import { isLong } from '../../../long.ts';
import { first, isDone, type Rules, type State, stepsFrom, violationsIn } from './protocol.ts';

const FAULTS = 2;
const SOUND: Rules = { isFenced: true, isExclusive: true, leasesEnd: true };

interface Search {
  readonly states: number;
  /** The first violation, and the steps to it. */
  readonly violation: string | undefined;
  /** States from which not all deliveries can be completed without further faults. */
  readonly stuck: number;
}

/** A text that is equal for states that differ only in the order of workers and deliveries. */
function identityOf({ deliveries, held, faultsLeft, isUsurped, ...counts }: State): string {
  const { completions, answers, handlings } = counts;
  const columns = deliveries.map((one, d) => ({
    d,
    text: JSON.stringify([
      one,
      completions[d],
      answers[d],
      handlings[d],
      held.map((of) => of[d]).sort(byText),
    ]),
  }));
  columns.sort((a, b) => (a.text < b.text ? -1 : 1));
  const rows = held.map((of) => JSON.stringify(columns.map(({ d }) => of[d]))).sort();
  return `${String(faultsLeft)} ${String(isUsurped)}|${columns.map(({ text }) => text).join('|')}|${rows.join('|')}`;
}

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

/** Visits every state that can be reached. */
function search(workers: number, deliveries: number, rules: Rules): Search {
  const begin = first(workers, deliveries, FAULTS);
  const paths = new Map<string, string>([[identityOf(begin), '']]);
  const before = new Map<string, string[]>();
  const done: string[] = [];
  const open: State[] = [begin];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const identity = identityOf(state);
    const path = paths.get(identity) ?? '';
    const [violation] = violationsIn(state, FAULTS);
    if (violation !== undefined)
      return { states: paths.size, violation: `${violation}: ${path.slice(2)}`, stuck: 0 };
    if (isDone(state)) done.push(identity);
    for (const { name, to } of stepsFrom(state, rules)) {
      const next = identityOf(to);
      if (to.faultsLeft === state.faultsLeft) {
        const sources = before.get(next) ?? [];
        before.set(next, sources);
        sources.push(identity);
      }
      if (paths.has(next)) continue;
      paths.set(next, `${path}, ${name}`);
      open.push(to);
    }
  }
  const live = new Set(done);
  for (let one = done.pop(); one !== undefined; one = done.pop()) {
    for (const source of before.get(one) ?? []) {
      if (live.has(source)) continue;
      live.add(source);
      done.push(source);
    }
  }
  return { states: paths.size, violation: undefined, stuck: paths.size - live.size };
}

describe('the protocol of claims, with two faults', () => {
  it.each<[number, number]>([[1, 1], [2, 2], [3, 2], ...(isLong ? [[3, 3] satisfies [number, number]] : [])])(
    'of %d workers and %d deliveries is safe and can end in every state',
    (workers, deliveries) => {
      const { states, violation, stuck } = search(workers, deliveries, SOUND);
      expect({ violation, stuck }).toEqual({ violation: undefined, stuck: 0 });
      expect(states).toBeGreaterThan(10);
    },
  );

  it.each<[keyof Rules, RegExp]>([
    ['isFenced', /completed for a claim that had ended/],
    ['isExclusive', /two workers|handled more often|completed/],
  ])('without the rule %s is unsafe', (rule, violation) => {
    expect(search(2, 2, { ...SOUND, [rule]: false }).violation).toMatch(violation);
  });

  it('without ends of leases cannot end after the death of a process', () => {
    expect(search(2, 2, { ...SOUND, leasesEnd: false }).stuck).toBeGreaterThan(0);
  });
});
