// A receiver that blocks its event loop on command, and reports every change of its pressure.
import { createServer } from 'node:http';
import { processPressure, withBackpressure } from '@webhook-backpressure/node';

const WINDOW_MS = 100;
const BLOCK_MS = 300;
/** Far above the delays of an idle process on a busy machine. */
const MAX_DELAY_MS = 150;

const pressure = processPressure({ windowMs: WINDOW_MS, maxEventLoopDelayMs: MAX_DELAY_MS });
const listener = withBackpressure((_req, res) => res.end('done'), {
  pressure,
  delivery: ({ headers }) => ({ priority: headers['x-priority'] === 'critical' ? 'critical' : 'normal' }),
});
const server = createServer(listener);

let isBlocking = false;
let isPressed = pressure();

function block() {
  const until = performance.now() + BLOCK_MS;
  while (performance.now() < until);
  // With timers, so that requests and messages are handled in between.
  if (isBlocking) setTimeout(block, 1);
}

const looking = setInterval(() => {
  if (pressure() === isPressed) return;
  isPressed = !isPressed;
  process.send?.({ isPressed, readings: pressure.readings() });
}, WINDOW_MS / 5);

process.on('message', (told) => {
  isBlocking = told === 'block';
  if (isBlocking) block();
  if (told !== 'end') return;
  clearInterval(looking);
  server.close();
  process.disconnect();
});
server.listen(0, () => process.send?.({ address: server.address() }));
