import './without-context.ts';
import { setImmediate } from 'node:timers/promises';
import { frameworks } from './kinds.ts';
import { requestFromNode } from './node-request.ts';
import type { Kind } from './plan.ts';
import { handlers, requestDirectly } from './web-kinds.ts';

/** One kind in this process: several apps in one process would change each other's inline caches. */
const [framework = '', kind = ''] = process.argv.slice(2);

const WARM_UP = 30_000;
const ROUNDS = 20;
const PER_ROUND = 5000;
const PER_TURN = 50;

const send = sender();
await microseconds(send, WARM_UP);
let least = Infinity;
for (let round = 0; round < ROUNDS; round += 1) {
  least = Math.min(least, await microseconds(send, PER_ROUND));
}
process.stdout.write(`${String(least)}\n`);
process.exit();

/** Sends a delivery, and resolves with the status of its response. */
function sender(): () => Promise<number> {
  const listener = frameworks[framework]?.(kind as Kind);
  if (listener !== undefined) return () => requestFromNode(listener);
  const handler = handlers[framework]?.(kind as Kind);
  if (handler !== undefined) return () => requestDirectly(handler);
  throw new Error(`There is no framework ${framework}.`);
}

/**
 * Processor time per request. After so many requests the timers and callbacks of the event loop run, as in a server after
 * each batch of packets: what they hold would else stay in memory, and the garbage collector would be measured.
 */
async function microseconds(send: () => Promise<number>, count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) {
    if (i % PER_TURN === 0) await setImmediate();
    const status = await send();
    if (status !== 200) throw new Error(`${framework}, ${kind}: ${String(status)}.`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
