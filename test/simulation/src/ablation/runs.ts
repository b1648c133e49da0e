import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Outcome } from './outcomes.ts';
import { RULES } from './rules.ts';
import { bundleWorker } from './sources.ts';
import { AND, TAKEN_OUT } from './switches.ts';
import type { Result, Task } from './worker.ts';

/** By name of the scenario; the entry at index `i` is of seed `i + 1`, and null if the run did not settle. */
export type Outcomes = Record<string, (Outcome | null)[]>;

/** The rules that are out together. */
type TakenOut = readonly string[];

/** What the runs with all rules have found, by scenario and seed. */
type Known = Map<string, Result>;

/**
 * Makes the runs in as many threads as there are cores. A thread takes its rules out for all of its runs. Those with all
 * rules come first: where none of the rules of a set is reached, its outcome is theirs.
 *
 * @param sets - the rules to take out.
 * @param done - called with all outcomes so far when one of the sets has been run with a seed; the first are those with all
 * rules.
 */
export async function runSets(
  sets: readonly TakenOut[],
  names: readonly string[],
  seeds: number,
  done: (outcomes: ReadonlyMap<TakenOut, Outcomes>) => Promise<void>,
): Promise<void> {
  const file = await bundleWorker(sets.length > 0);
  const outcomes = new Map<TakenOut, Outcomes>();
  const known: Known = new Map();
  for (const taken of [[], ...sets]) outcomes.set(taken, Object.fromEntries(names.map((name) => [name, []])));
  const all = [...outcomes.keys()];
  const bySeed = Array.from({ length: seeds }, (_, i) => all.map((taken) => ({ taken, seed: i + 1 })));
  for (const round of [bySeed.flatMap((jobs) => jobs.slice(0, 1)), ...bySeed.map((jobs) => jobs.slice(1))]) {
    const queue = round[Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const { taken, seed } of queue) {
        await runSet(file, taken, outcomes.get(taken) ?? {}, seed, known);
        await done(outcomes);
      }
    };
    await Promise.all(Array.from({ length: Math.min(availableParallelism(), round.length) }, work));
  }
  await rm(dirname(file), { recursive: true });
}

async function runSet(
  file: string,
  taken: TakenOut,
  outcomes: Outcomes,
  seed: number,
  known: Known,
): Promise<void> {
  const worker = new Worker(file, { env: { ...process.env, [TAKEN_OUT]: taken.join(AND) } });
  for (const [name, bySeed] of Object.entries(outcomes)) {
    const at = `${name} ${String(seed)}`;
    const before = known.get(at);
    const isSame = before !== undefined && !taken.some((rule) => canMatter(rule, name, before));
    const result = isSame ? before : await resultOf(worker, { name, seed });
    if (taken.length === 0) known.set(at, result);
    bySeed[seed - 1] = result.outcome;
  }
  await worker.terminate();
}

function canMatter(rule: string, scenario: string, { reached }: Result): boolean {
  const { matters = '' } = RULES.find(({ name }) => name === rule) ?? {};
  return scenario.startsWith(matters) && reached.has(rule);
}

function resultOf(worker: Worker, task: Task): Promise<Result> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (result: Result) => {
      worker.off('error', reject);
      resolve(result);
    });
    worker.postMessage(task);
  });
}
