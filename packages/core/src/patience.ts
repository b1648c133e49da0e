/**
 * How long a delivery may still wait that could wait for `waitMs`, and that comes to light in a turn of the event loop
 * that is late by `lagMs`: it may have waited for so long already. Half of its time it has in any case, since on
 * average it came in the middle of the lag, and since a timer that a runtime has lost looks the same.
 */
export function patienceMs(waitMs: number, lagMs: number): number {
  return waitMs - Math.min(waitMs / 2, lagMs);
}
