import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { LabResult } from './lab-figures.ts';
import type { LabTask } from './lab-worker.ts';

/** Makes the runs in as many threads as there are cores, in order, and reports each result. */
export async function runAll(
  tasks: readonly LabTask[],
  done: (task: LabTask, result: LabResult) => void,
): Promise<void> {
  const left = tasks[Symbol.iterator]();
  const threads = Math.min(availableParallelism(), tasks.length);
  await Promise.all(Array.from({ length: threads }, () => work(left, done)));
}

async function work(
  left: Iterator<LabTask>,
  done: (task: LabTask, result: LabResult) => void,
): Promise<void> {
  const worker = new Worker(new URL('lab-worker.js', import.meta.url));
  for (let next = left.next(); next.done !== true; next = left.next()) {
    const { value: task } = next;
    done(task, await resultOf(worker, task));
  }
  await worker.terminate();
}

function resultOf(worker: Worker, task: LabTask): Promise<LabResult> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (result: LabResult) => {
      worker.off('error', reject);
      resolve(result);
    });
    worker.postMessage(task);
  });
}
