import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChannel } from './channel.ts';
import { deliver, type Attempt } from './delivery.ts';
import type { WaveOrders } from './messages.ts';
import { exchange } from './post.ts';
import { SENDER } from './setup.ts';
import { MAX_UNDER_WAY, rateAt, STREAMS, TIMEOUT_MS, type Stream } from './waves.ts';

const TICK_MS = 20;
const BODY = JSON.stringify({ type: 'order.created', data: { id: 820_982, total: '403.00' } });

const channel = openChannel<WaveOrders, object>();
let underWay = 0;

channel.on('send', ({ origin }) => void sendWaves(origin));

async function sendWaves(origin: string): Promise<void> {
  const startedAt = performance.now();
  const due = new Map(STREAMS.map((stream) => [stream, 0]));
  let sentAt = 0;
  for (;;) {
    const seconds = (performance.now() - startedAt) / 1000;
    for (const [stream, left] of due) {
      let count = left + rateAt(stream, seconds) * (seconds - sentAt);
      for (; count >= 1; count -= 1) if (underWay < MAX_UNDER_WAY) void settle(origin, stream);
      due.set(stream, count);
    }
    sentAt = seconds;
    await sleep(TICK_MS);
  }
}

async function settle(origin: string, { path, tenant, sender }: Stream): Promise<void> {
  underWay += 1;
  const id = randomUUID();
  const headers = { 'content-type': 'application/json', 'x-tenant': tenant, ...sender.headers(id) };
  const send = async (): Promise<Attempt> => {
    const attempt = await exchange(`${origin}${path}`, headers, BODY, TIMEOUT_MS);
    return sender.honorsRetryAfter ? attempt : { ...attempt, retryAfterMs: undefined };
  };
  await deliver(send, { backoffMs: sender.backoffMs, jitter: SENDER.jitter }, sleep);
  underWay -= 1;
}
