import { parentPort } from 'node:worker_threads';
import { figuresOf } from './lab-figures.ts';
import { LAB_RUNS } from './lab-runs.ts';

parentPort?.on('message', (name: string) => {
  const run = LAB_RUNS.find((one) => one.name === name);
  if (run === undefined) throw new Error(`The lab has no run ${name}.`);
  void figuresOf(run).then((result) => parentPort?.postMessage(result));
});
