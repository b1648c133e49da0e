import { Downstream } from './downstream.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Traffic } from './traffic.ts';
import { startsPerSecondOf, workersOf } from './workers.ts';

/** The result of the same deliveries, workers and service times without a gate, first in, first out. */
export interface Ideal {
  /** The last completion; NaN without one. */
  readonly clearMs: number;
  /** The intervals in which deliveries are queued: in order and disjoint. */
  readonly waitingFromMs: readonly number[];
  readonly waitingToMs: readonly number[];
  /** Deliveries that found the queue full and were rejected permanently. */
  readonly rejected: number;
}

/**
 * Runs the traffic without a gate.
 *
 * @param places - the capacity of the queue; Infinity for an unbounded queue. With the capacity of the intake, the
 * rejected deliveries are those that no policy could serve in time.
 */
export function runIdeal(scenario: Scenario, { firstMs, serviceMs }: Traffic, places: number): Ideal {
  const workers = workersOf(scenario);
  const spacingMs = 1000 / startsPerSecondOf(scenario);
  // Nothing starts or ends while the process is frozen.
  const { standStill = [] } = scenario.service;
  const freeze = scenario.process?.freeze ?? [];
  const downstream = new Downstream({ ...scenario.service, standStill: [...standStill, ...freeze] });
  const queue: number[] = [];
  const waitingFromMs: number[] = [];
  const waitingToMs: number[] = [];
  let head = 0;
  let arrived = 0;
  let mayStartMs = 0;
  let clearMs = NaN;
  let rejected = 0;

  for (let now = 0; ;) {
    while (head < queue.length && downstream.inService < workers && mayStartMs <= now) {
      const i = queue[head++] as number;
      downstream.start(i, serviceMs[i] as number, now);
      mayStartMs = now + spacingMs;
    }
    const isWaiting = head < queue.length;
    const wasWaiting = waitingFromMs.length > waitingToMs.length;
    if (isWaiting !== wasWaiting) (isWaiting ? waitingFromMs : waitingToMs).push(now);

    const startMs = isWaiting && downstream.inService < workers ? mayStartMs : Infinity;
    const endMs = downstream.nextMs();
    const arrivalMs = firstMs[arrived] ?? Infinity;
    now = Math.min(startMs, endMs, arrivalMs);
    if (now === Infinity) return { clearMs, waitingFromMs, waitingToMs, rejected };
    if (endMs <= now) {
      downstream.end(now);
      clearMs = now;
    } else if (arrivalMs <= now) {
      if (queue.length - head < places || downstream.inService < workers) queue.push(arrived);
      else rejected += 1;
      arrived += 1;
    }
  }
}
