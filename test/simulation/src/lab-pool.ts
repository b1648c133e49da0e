import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { LabResult } from './lab-figures.ts';

/** Makes the runs in as many threads as there are cores, in order, and reports each result. */
export async function runAll(
  names: readonly string[],
  done: (name: string, result: LabResult) => Promise<void>,
): Promise<void> {
  const left = names[Symbol.iterator]();
  const threads = Math.min(availableParallelism(), names.length);
  await Promise.all(Array.from({ length: threads }, () => work(left, done)));
}

async function work(
  left: Iterator<string>,
  done: (name: string, result: LabResult) => Promise<void>,
): Promise<void> {
  const worker = new Worker(new URL('lab-worker.js', import.meta.url));
  for (let next = left.next(); next.done !== true; next = left.next()) {
    await done(next.value, await resultOf(worker, next.value));
  }
  await worker.terminate();
}

function resultOf(worker: Worker, name: string): Promise<LabResult> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (result: LabResult) => {
      worker.off('error', reject);
      resolve(result);
    });
    worker.postMessage(name);
  });
}
