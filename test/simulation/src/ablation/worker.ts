import { parentPort } from 'node:worker_threads';
import { outcomeOf, type Outcome } from './outcomes.ts';
import { REACHED } from './switches.ts';

/** A run to make. */
export interface Task {
  readonly name: string;
  readonly seed: number;
}

export interface Result {
  readonly outcome: Outcome | null;
  /** The rules whose sources were reached, if all rules are in. */
  readonly reached: ReadonlySet<string>;
}

const global = globalThis as unknown as Record<string, Set<string>>;

parentPort?.on('message', ({ name, seed }: Task) => {
  const reached = (global[REACHED] = new Set<string>());
  void outcomeOf(name, seed).then((outcome) => parentPort?.postMessage({ outcome, reached }));
});
