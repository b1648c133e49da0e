// A process that is idle for long and then busy, in short turns that never block. It reports how long detection took.
import { processPressure } from '@webhook-backpressure/node';

const WINDOW_MS = 100;
const IDLE_WINDOWS = 20;
const TURN_MS = 5;
const MAX_TURNS = 2000;

const pressure = processPressure({ windowMs: WINDOW_MS, maxEventLoopDelayMs: 60_000 });
pressure();

/** @param {number} turns so far */
function turn(turns) {
  const until = performance.now() + TURN_MS;
  while (performance.now() < until);
  if (pressure() || turns === MAX_TURNS) process.send?.({ turns, readings: pressure.readings() });
  else setImmediate(turn, turns + 1);
}

setTimeout(turn, IDLE_WINDOWS * WINDOW_MS, 1);
