import { parentPort } from 'node:worker_threads';
import { outcomeOf } from './outcomes.ts';

/** A run to make. */
export interface Task {
  readonly name: string;
  readonly seed: number;
}

parentPort?.on('message', ({ name, seed }: Task) => {
  void outcomeOf(name, seed).then((outcome) => parentPort?.postMessage(outcome));
});
