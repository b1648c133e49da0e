import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import { admitRelease, limitTask } from './admit-release.ts';
import { admitReleaseIn } from './deep.ts';
import { recognize } from './recognize.ts';
import { refuse } from './refuse.ts';
import type { Run } from './runs.ts';

/** Operations between two readings of the clock. */
const BATCH = 2000;

const sides = new Map<string, () => Run>([
  ['admit-release', admitRelease],
  ['p-limit', limitTask],
  ['refuse', refuse],
  ['depth=1e6', () => admitReleaseIn({ depth: 1_000_000, keys: 1 })],
  ['depth=10', () => admitReleaseIn({ depth: 10, keys: 1 })],
  ['keys=1e5', () => admitReleaseIn({ depth: 100_000, keys: 100_000 })],
  ['keys=10', () => admitReleaseIn({ depth: 100_000, keys: 10 })],
  ['twice the profiles', () => recognize(1)],
  ['built-in profiles', () => recognize(0)],
]);

/** A full queue is unchanged after each turn, and filling it takes longer than the turn. */
const filled = new Map<string, Run>();

/** One turn of one side, from a fresh start unless it is one of those above. Returns operations per second. */
answer(async ({ side, seconds }: { side: string; seconds: number }): Promise<number> => {
  const create = sides.get(side);
  if (create === undefined) throw new Error(`There is no side ${side}.`);
  const run = filled.get(side) ?? create();
  if (side.includes('=')) filled.set(side, run);
  // Garbage of the other side must not be collected during this one.
  globalThis.gc?.();
  await runFor(run, seconds / 4);
  return runFor(run, seconds);
});

async function runFor(run: Run, seconds: number): Promise<number> {
  const begin = processorSeconds();
  let count = 0;
  let used = 0;
  while (used < seconds) {
    await run(BATCH);
    count += BATCH;
    used = processorSeconds() - begin;
  }
  return count / used;
}
