import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker, type Job } from 'bullmq';
import { bullmqDoor, deliveryOf, type WebhookJobData } from '@webhook-backpressure/bullmq';
import type { InboxDelivery, ReceivingStore } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import type { Exactly } from './exactly.ts';
import { shopInbox } from './shop-inbox.ts';

export async function main(): Promise<unknown> {
  const { hostname: host, port } = new URL(process.env['REDIS_URL'] ?? '');
  const connection = { host, port: Number(port) };
  const name = `consumer-${String(process.pid)}`;
  const queue = new Queue(name, { connection: { ...connection, enableOfflineQueue: false } });
  const store = bullmqDoor(queue);
  const isStore: Exactly<typeof store, ReceivingStore> = true;
  let handled: (delivery: InboxDelivery) => void;
  const first = new Promise<InboxDelivery>((resolve) => (handled = resolve));
  const worker = new Worker(
    name,
    async (job: Job<WebhookJobData>) => {
      await Promise.resolve();
      handled(deliveryOf(job));
    },
    { connection: { ...connection, maxRetriesPerRequest: null } },
  );
  const { verify } = shopInbox();
  const webhooks = webhookInbox({ store, verify });
  const server = createServer(webhooks).listen(0);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const headers = { 'x-shop': 'shop-1', 'webhook-id': 'evt_1' };
  let status = 503;
  // The connection of the queue is not open yet.
  while (status === 503) {
    ({ status } = await fetch(url, { method: 'POST', headers, body: '{}' }));
    await sleep(50);
  }
  const { id } = await first;
  await worker.close();
  const depth = (await queue.getJobCounts('waiting'))['waiting'];
  await webhooks.inbox.close();
  await queue.obliterate({ force: true });
  await queue.close();
  server.closeAllConnections();
  server.close();
  return {
    middleware: { key: 'shop-1', typed: isStore, depth },
    inbox: { status, completed: id, typed: true },
  };
}
