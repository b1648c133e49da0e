/**
 * The time of day, for what is stored. It follows the wall clock forward, also over a sleep of the machine, and never
 * goes back while the process lives: a clock that is set back by an hour would make every retry wait an hour longer.
 */
export function wallTime(wallClock: () => number, now: () => number): () => number {
  let lastMs = wallClock();
  let readAtMs = now();
  return () => {
    const nowMs = now();
    lastMs = Math.max(wallClock(), lastMs + (nowMs - readAtMs));
    readAtMs = nowMs;
    return Math.floor(lastMs);
  };
}
