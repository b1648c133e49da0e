import { createHmac } from 'node:crypto';
import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { createSender } from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { Queue, Worker } from 'bullmq';
import { BODY } from '../inbox/sample.ts';

/** Endpoints that all sides deliver to: with 10 requests in flight each, 100 as BullMQ's worker. */
const ENDPOINTS = 10;
const IN_FLIGHT = 10;
const COUNT_MS = 5;
const SECRET = 'dGhlIHNlY3JldCBvZiB0aGUgYmVuY2htYXJr';
const DATA = JSON.parse(BODY) as Record<string, never>;

/** Where everything is. */
export interface Places {
  readonly receiverPort: number;
  readonly connectionString: string;
  readonly redisPort: number;
  /** Of a new SQLite file. */
  readonly file: string;
}

/** Sends and delivers in one process. */
export interface Deliverer {
  /** Resolves when the event is stored. */
  send(at: number): Promise<unknown>;
  /** Events that were delivered, as the store knows. */
  delivered(): number;
  close(): Promise<unknown>;
}

async function ours(store: InboxStore, { receiverPort }: Places): Promise<Deliverer> {
  const sender = createSender({
    store,
    allowPrivateAddresses: true,
    endpoint: (id) => ({ url: `http://127.0.0.1:${String(receiverPort)}/${id}`, secret: SECRET }),
    defaults: { rate: { perSecond: 1_000_000 }, burst: 1_000_000, maxInFlight: IN_FLIGHT },
  });
  await sender.opened;
  let delivered = 0;
  // A snapshot has more than the total, and its cost would be measured too.
  const counting = setInterval(() => (delivered = sender.snapshot().totals.delivered), COUNT_MS);
  return {
    send: (at) =>
      sender.send({ endpoint: `ep_${String(at % ENDPOINTS)}`, type: 'order.updated', data: DATA }),
    delivered: () => delivered,
    close: () => {
      clearInterval(counting);
      return sender.close();
    },
  };
}

/** The usual way in Node.js: a queue, a worker, `fetch`, and the signature by hand. */
async function bullmq({ redisPort, receiverPort }: Places, name: string): Promise<Deliverer> {
  const connection = { host: '127.0.0.1', port: redisPort };
  const key = Buffer.from(SECRET, 'base64');
  const queue = new Queue(name, { connection });
  await queue.waitUntilReady();
  let delivered = 0;
  const worker = new Worker<{ endpoint: string; id: string; type: string; data: unknown }>(
    name,
    async (job) => {
      const { endpoint, id, type, data } = job.data;
      const body = JSON.stringify({ type, timestamp: new Date(job.timestamp).toISOString(), data });
      const seconds = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
      const answer = await fetch(`http://127.0.0.1:${String(receiverPort)}/${endpoint}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': seconds,
          'webhook-signature': `v1,${signature}`,
        },
        body,
      });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`It was answered with ${String(answer.status)}.`);
    },
    { connection, concurrency: ENDPOINTS * IN_FLIGHT, removeOnComplete: { count: 0 } },
  );
  worker.on('completed', () => (delivered += 1));
  await worker.waitUntilReady();
  const retries = { attempts: 20, backoff: { type: 'exponential', delay: 1000 } };
  return {
    send: (at) => {
      const id = `msg_${name}_${String(at)}`;
      const endpoint = `ep_${String(at % ENDPOINTS)}`;
      return queue.add(
        'event',
        { endpoint, id, type: 'order.updated', data: DATA },
        { ...retries, jobId: id },
      );
    },
    delivered: () => delivered,
    close: async () => {
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

/** By the names of their sides. */
export const sides: ReadonlyMap<string, (places: Places, name: string) => Promise<Deliverer>> = new Map([
  ['memory', (places) => ours(memoryStore(), places)],
  ['SQLite', (places) => ours(sqliteStore({ path: places.file }), places)],
  [
    'PostgreSQL',
    (places, name) =>
      ours(postgresStore({ connectionString: places.connectionString }, { schema: name }), places),
  ],
  ['BullMQ', bullmq],
]);
