/**
 * How long a delivery may still wait that could wait for `waitMs`, and that comes to light in a turn of the event loop
 * that is late by `lagMs`: it may have waited for so long already. Half of its time it has in any case, since on
 * average it came in the middle of the lag, and since a timer that a runtime has lost looks the same.
 *
 * @param ageMs - how long it is known to have waited already, such as for its body.
 */
export function patienceMs(waitMs: number, lagMs: number, ageMs = 0): number {
  return Math.max(0, waitMs - Math.max(ageMs, Math.min(waitMs / 2, lagMs)));
}
