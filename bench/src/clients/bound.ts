import { DELIVERIES, HANDLING_MS, LIMITS } from './setup.ts';

/** Handled per millisecond. */
const RATE = LIMITS.concurrency / HANDLING_MS;

/**
 * When the last delivery ends at the earliest, in seconds, given when each was refused, in milliseconds. Retry-After is
 * in whole seconds, so a retry arrives a whole number of seconds after the refusal, and more than the queue and the
 * workers take at that moment would be refused again. Retries are not delayed, and each fills the first place.
 */
export function earliestLastS(refusedMs: readonly number[]): number {
  const sorted = refusedMs.toSorted((a, b) => a - b);
  let open = sorted;
  let endMs = ((DELIVERIES - sorted.length) / RATE) | 0;
  let held = 0;
  let atMs = 0;
  for (let second = 0; open.length > 0; second += 1) {
    const left: number[] = [];
    for (const phaseMs of open) {
      const arrivesMs = phaseMs + (second + 1) * 1000;
      held = Math.max(0, held - (arrivesMs - atMs) * RATE);
      atMs = arrivesMs;
      if (held + 1 > LIMITS.capacity + LIMITS.concurrency) left.push(phaseMs);
      else {
        held += 1;
        endMs = Math.max(endMs, arrivesMs + held / RATE);
      }
    }
    open = left;
  }
  return endMs / 1000;
}
