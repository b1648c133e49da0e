import type { Reading } from './latency-window.ts';

/** Share of the deliveries in service. Beyond some 30 of them, a smaller queue could not be measured. */
const QUEUE_SHARE = 0.09;

/** The estimated queue inside the downstream, in deliveries. Below 0 if the downstream is faster than the baseline. */
export function downstreamQueue({ ms, active }: Pick<Reading, 'ms' | 'active'>, baselineMs: number): number {
  return active * (1 - baselineMs / ms);
}

/** The queue, in deliveries, above which the limit shrinks. It grows below half of it, and holds between. */
export function allowedQueue(active: number): number {
  return Math.max(1.1, 2 * Math.log10(active), QUEUE_SHARE * active);
}
