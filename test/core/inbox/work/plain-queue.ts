import { stream } from '@webhook-backpressure/planner/parts';
import { retryDelayMs } from '../../../../packages/inbox/src/work/retries.ts';
import { type Heaped, MinHeap } from '@webhook-backpressure/base';
import type { Plan } from './outage-simulation.ts';

interface Job extends Heaped {
  dueMs: number;
  attempts: number;
}

export interface PlainQueueResult {
  readonly deadLetters: number;
  readonly attemptsInOutage: number;
  /** The time after the outage until all jobs are completed or dead. */
  readonly clearAfterMs: number;
  /** The most handlers that started in one second after the outage. */
  readonly peakPerSecond: number;
}

/**
 * A plain queue to compare with: the same workers and retry schedule, without outage detection.
 */
export function plainQueue(
  { stored, concurrency, handlerMs, outageMs, seed = 1 }: Plan,
  retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number },
): PlainQueueResult {
  const random = stream(seed, 'plain queue');
  const jobs = new MinHeap<Job>((a, b) => a.dueMs < b.dueMs);
  for (let at = 0; at < stored; at += 1) jobs.push({ dueMs: 0, attempts: 0, heapIndex: 0 });
  const freeAtMs = new Array<number>(concurrency).fill(0);
  const begun = new Map<number, number>();
  let [deadLetters, attemptsInOutage, clearAtMs] = [0, 0, 0];
  for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
    const worker = freeAtMs.indexOf(Math.min(...freeAtMs));
    const startMs = Math.max(job.dueMs, freeAtMs[worker] as number);
    const endMs = startMs + handlerMs;
    freeAtMs[worker] = endMs;
    job.attempts += 1;
    clearAtMs = Math.max(clearAtMs, endMs);
    if (startMs >= outageMs) {
      const second = Math.floor(startMs / 1000);
      begun.set(second, (begun.get(second) ?? 0) + 1);
      continue;
    }
    attemptsInOutage += 1;
    if (job.attempts >= retry.attempts) {
      deadLetters += 1;
      continue;
    }
    job.dueMs = endMs + retryDelayMs(job.attempts, retry, random);
    jobs.push(job);
  }
  const peakPerSecond = Math.max(0, ...begun.values());
  return { deadLetters, attemptsInOutage, clearAfterMs: clearAtMs - outageMs, peakPerSecond };
}
