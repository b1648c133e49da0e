/**
 * How long a delivery may wait that comes to light in a turn of the event loop that is late by `lagMs`: it may have
 * waited for that long already. Half of its time it has in any case, since on average it came in the middle of the lag,
 * and since a timer that a runtime has lost looks the same.
 *
 * @param longestMs - the option of the intake.
 * @param ownMs - how long its sender waits, as far as that is known.
 */
export function patienceMs(longestMs: number, ownMs: number | undefined, lagMs: number): number {
  const allMs = Math.min(longestMs, ownMs ?? Infinity);
  return allMs - Math.min(allMs / 2, lagMs);
}
