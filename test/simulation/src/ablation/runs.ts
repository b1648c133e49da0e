import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Outcome } from './outcomes.ts';
import { RULES } from './rules.ts';
import { AND, bundleWorker, TAKEN_OUT } from './sources.ts';
import type { Task } from './worker.ts';

/** By name of the scenario; the entry at index `i` is of seed `i + 1`, and null if the run did not settle. */
export type Outcomes = Record<string, (Outcome | null)[]>;

/** The rules that are out together. */
type TakenOut = readonly string[];

/**
 * Makes the runs in as many threads as there are cores. A thread takes its rules out for all of its runs.
 *
 * @param sets - the rules to take out; nothing if empty.
 * @param names - of scenarios. Without rules that cannot matter in one of them, it does not run.
 * @param done - called with the outcomes of each set when they are complete.
 */
export async function runSets(
  sets: readonly TakenOut[],
  names: readonly string[],
  seeds: number,
  done: (taken: TakenOut, outcomes: Outcomes) => Promise<void>,
): Promise<void> {
  const file = await bundleWorker(sets.some((taken) => taken.length > 0));
  const jobs = sets.flatMap((taken) => {
    const own = names.filter((name) => taken.length === 0 || taken.some((rule) => canMatter(rule, name)));
    const outcomes: Outcomes = Object.fromEntries(own.map((name) => [name, []]));
    const progress = { left: seeds };
    return Array.from({ length: seeds }, (_, i) => ({ taken, outcomes, progress, seed: i + 1 }));
  });
  const queue = jobs[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const { taken, outcomes, progress, seed } of queue) {
      const worker = new Worker(file, { env: { ...process.env, [TAKEN_OUT]: taken.join(AND) } });
      for (const [name, bySeed] of Object.entries(outcomes))
        bySeed[seed - 1] = await resultOf(worker, { name, seed });
      await worker.terminate();
      progress.left -= 1;
      if (progress.left === 0) await done(taken, outcomes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, work));
  await rm(dirname(file), { recursive: true });
}

function canMatter(rule: string, scenario: string): boolean {
  return RULES.find(({ name }) => name === rule)?.matters?.test(scenario) ?? true;
}

function resultOf(worker: Worker, task: Task): Promise<Outcome | null> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (outcome: Outcome | null) => {
      worker.off('error', reject);
      resolve(outcome);
    });
    worker.postMessage(task);
  });
}
