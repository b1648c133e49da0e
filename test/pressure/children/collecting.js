// A process that fills and empties its small heap, with frequent full collections.
import { processPressure } from '@webhook-backpressure/node';

const WINDOW_MS = 100;
const MAX_HEAP_FRACTION = 0.4;
const HELD_NUMBERS = 8_000_000;

const pressure = processPressure({
  windowMs: WINDOW_MS,
  maxHeapFraction: MAX_HEAP_FRACTION,
  maxEventLoopDelayMs: 60_000,
  maxEventLoopUtilization: 1,
});
let isPressed = pressure();
/** @type {number[]} */
let held = [];

setInterval(() => {
  global.gc?.();
  if (pressure() === isPressed) return;
  isPressed = !isPressed;
  process.send?.({ isPressed, readings: pressure.readings() });
}, WINDOW_MS / 2);

process.on('message', (told) => {
  held = told === 'fill' ? Array.from({ length: HELD_NUMBERS }, (_, index) => index / 2) : [];
});
process.send?.({ held: held.length });
