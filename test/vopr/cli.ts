// `npm run vopr -- [--seeds N] [--first SEED]`: see README.md in this folder.
import { parseArgs } from 'node:util';
import { search, shrink, type Found } from './search.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    first: { type: 'string', default: '1' },
    /** For the planted bugs: stops at the first failing seed, and prints its number alone. */
    brief: { type: 'boolean', default: false },
  },
});
const seeds = whole('seeds', values.seeds);
const first = whole('first', values.first);

const beganMs = performance.now();
let failed = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  const found = await search(seed);
  if (found === undefined) continue;
  failed += 1;
  if (values.brief) {
    process.stdout.write(`${String(seed)} ${found.outcome.failures[0] ?? ''}\n`);
    break;
  }
  show(seed, await shrink(found));
}
const tookS = (performance.now() - beganMs) / 1000;
if (!values.brief) {
  const perHour = Math.round((seeds / tookS) * 3600);
  process.stdout.write(
    `${String(seeds)} seeds from ${String(first)} in ${tookS.toFixed(1)} s (${String(perHour)} an hour): ${String(failed)} failed.\n`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;

function show(seed: number, { plan, outcome }: Found): void {
  const lines = [
    `Seed ${String(seed)} fails:`,
    ...outcome.failures.slice(0, 10).map((failure) => `  ${failure}`),
  ];
  const { deliveries, faults, ...options } = plan;
  lines.push(`  ${JSON.stringify(options)}`);
  lines.push(...deliveries.map((one) => `  delivery ${JSON.stringify(one)}`));
  lines.push(...faults.map((one) => `  fault ${JSON.stringify(one)}`));
  const { seen, committed } = outcome.world;
  for (const [name, events] of [
    ['seen', seen],
    ['store', committed],
  ] as const) {
    lines.push(
      ...events.slice(0, 200).map((event, at) => `  ${name} ${String(at)} ${JSON.stringify(event)}`),
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be an integer of at least 0, but was ${text}.`);
}
