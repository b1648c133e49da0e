/** The number of requests that go on in one turn of the event loop. */
const PER_TURN = 64;

let arrived: (() => void)[] = [];
let next = 0;

/**
 * Waits for the end of this turn of the event loop, when bodies that arrived in the same packet as their headers have been
 * read. At most 64 requests go on in one turn, and the others in later ones: after a standstill a thousand connections may
 * be waiting, and running handlers, their sockets and the timers must not wait for all of them.
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
