import type { Destination, Learned } from './destination.ts';

/** Results of an endpoint that are being stored, beside a cap of them: a slow store must not gather more and more. */
const SPARE_RESULTS = 32;

/**
 * How many requests may start now, as far as the limits of requests in flight say.
 *
 * @param isClaimed - their events are claimed already.
 */
export function roomOf(
  destination: Destination,
  learned: Learned,
  processes: number,
  isClaimed = false,
): number {
  const { held, inFlight } = destination;
  const { pace, health, settings } = learned;
  if (settings.isOrdered) return (isClaimed ? inFlight : held) === 0 ? 1 : 0;
  const cap = Math.max(1, Math.floor(pace.maxInFlight / processes));
  // A single probe, whose time the callers check.
  if (health.isFailing) return inFlight < cap ? 1 : 0;
  if (isClaimed) return cap - inFlight;
  const perRequest = settings.batch?.maxEvents ?? 1;
  const unsettled = Math.floor(held / perRequest) - inFlight;
  return Math.max(0, Math.min(cap - inFlight, cap + SPARE_RESULTS - unsettled));
}

/** When the next request may start, on the monotonic clock. Infinity: when another has ended. */
export function nextStartMs(
  destination: Destination,
  learned: Learned,
  processes: number,
  nowMs: number,
): number {
  const { dueMs, tokenAtMs } = destination;
  const { pace, health, settings } = learned;
  pace.pass(nowMs);
  if (roomOf(destination, learned, processes) <= 0) return Infinity;
  const probeAtMs = health.isFailing ? health.probeAtMs : 0;
  const atMs = Math.max(dueMs, tokenAtMs, pace.waitUntilMs, probeAtMs);
  if (settings.batch === undefined) return atMs;
  return Math.max(atMs, destination.gathering?.readyAtMs(settings.batch) ?? 0);
}
