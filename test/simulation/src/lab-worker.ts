import { parentPort } from 'node:worker_threads';
import { figuresOf } from './lab-figures.ts';
import { LAB_RUNS } from './lab-runs.ts';

/** A run to make, by name. */
export interface LabTask {
  readonly name: string;
  readonly seed: number;
}

parentPort?.on('message', ({ name, seed }: LabTask) => {
  const run = LAB_RUNS.find((one) => one.name === name);
  if (run === undefined) throw new Error(`The lab has no run ${name}.`);
  void figuresOf(run, seed).then((result) => parentPort?.postMessage(result));
});
