/** So many requests go on in one turn of the event loop. */
const PER_TURN = 64;

let arrived: (() => void)[] = [];
let next = 0;

/**
 * Waits for the end of this turn of the event loop, when the bodies that came in the same packets as their headers have
 * been read, or for a later one: at most 64 requests go on in one turn. A process that has stood still finds a thousand
 * connections waiting; were all of them let through in the turn that takes them, the handlers that run already, their
 * sockets and the timers would wait until the last one had been looked at.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (arrived.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const end = Math.min(arrived.length, next + PER_TURN);
  while (next < end) arrived[next++]?.();
  if (next < arrived.length) {
    setImmediate(goOn);
    return;
  }
  arrived = [];
  next = 0;
}
