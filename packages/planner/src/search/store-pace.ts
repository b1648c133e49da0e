import type { Played } from './outcome.ts';

/** Seconds of work in the queue from which no worker was free for a second. */
const BUSY_S = 2;
/** Fewer such seconds say little about the rate. */
const LEAST_SECONDS = 10;

/**
 * Deliveries completed per second while no worker was free; undefined if that was rare.
 *
 * @param drainRate - what the handlers alone could complete per second.
 */
export function busyRateOf({ seen }: Played, drainRate: number): number | undefined {
  const busy = seen.series.seconds.filter(({ depth }) => depth >= BUSY_S * drainRate);
  if (busy.length < LEAST_SECONDS) return undefined;
  return busy.reduce((sum, { completions }) => sum + completions, 0) / busy.length;
}
