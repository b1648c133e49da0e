import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { type RawDelivery, verifiers } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { Queue, Worker } from 'bullmq';
import express, { type Express, type RequestHandler } from 'express';
import expressQueue from 'express-queue';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { answer } from '../pinned.ts';
import { handle } from './handler.ts';
import { HANDLED, type Peer, type Place, QUEUE } from './peers-setup.ts';
import { SECRET, WORKERS } from './setup.ts';

const [peer = 'no protection', text = '{}'] = process.argv.slice(2) as [Peer?, string?];
const { port, folder, redisPort } = JSON.parse(text) as Place;

type Received = Pick<RawDelivery, 'headers' | 'rawBody' | 'text' | 'json'>;

const { github, stripe, shopify, svix } = verifiers;
/** By the header with the id; Stripe's is in the body. */
const BY_ID = {
  'x-github-delivery': github({ secret: SECRET }),
  'x-shopify-webhook-id': shopify({ secret: SECRET }),
  'svix-id': svix({ secret: SECRET }),
};
const byStripe = stripe({ secret: SECRET });
const headerOf = ({ headers }: Received): keyof typeof BY_ID | undefined =>
  (Object.keys(BY_ID) as (keyof typeof BY_ID)[]).find((name) => name in headers);

const verify = (delivery: RawDelivery): Promise<true> => {
  const header = headerOf(delivery);
  return (header === undefined ? byStripe : BY_ID[header])(delivery);
};

function idOf(delivery: Received): string {
  const header = headerOf(delivery);
  return (header === undefined ? (delivery.json() as { id: string }).id : delivery.headers[header]) ?? '';
}

async function work(id: string): Promise<void> {
  await handle();
  appendFileSync(join(folder, HANDLED), `${id} ${String(Date.now())}\n`);
}

/** A route as users write it: it verifies the delivery, and answers after `run`. */
function route(run: (id: string, text: string) => unknown, status = 204): RequestHandler[] {
  const answerTo: RequestHandler = async (req, res) => {
    const rawBody = req.body as Buffer;
    const received = { headers: req.headers as Record<string, string>, rawBody };
    const delivery = {
      ...received,
      text: () => String(rawBody),
      json: () => JSON.parse(String(rawBody)) as unknown,
    };
    const isGenuine = await verify(delivery as unknown as RawDelivery).catch(() => false);
    if (!isGenuine) return void res.sendStatus(400);
    await run(idOf(delivery), delivery.text());
    res.sendStatus(status);
  };
  return [express.raw({ type: () => true }), answerTo];
}

const limit = pLimit(WORKERS);
const isFull: RequestHandler = (_req, res, next) => {
  if (limit.pendingCount < QUEUE) next();
  else res.sendStatus(429);
};

const routes: Readonly<Record<Peer, () => RequestHandler[]>> = {
  'no protection': () => route(work),
  'express-queue': () => [expressQueue({ activeLimit: WORKERS, queuedLimit: QUEUE }), ...route(work)],
  'p-limit by hand': () => route((id) => limit(work, id)),
  'p-limit and a 429 by hand': () => [isFull, ...route((id) => limit(work, id))],
  'BullMQ and a 200': () => {
    const connection = { host: '127.0.0.1', port: redisPort };
    const queue = new Queue('webhooks', { connection });
    new Worker('webhooks', ({ id }) => work(id ?? ''), { connection, concurrency: WORKERS });
    return route((id, body) => queue.add('delivery', { body }, { jobId: id }), 200);
  },
  middleware: () => [webhookBackpressure({ concurrency: WORKERS }), ...route(work)],
  inbox: () => {
    const store = sqliteStore({ path: join(folder, 'webhooks.db') });
    const process = (delivery: RawDelivery): Promise<void> => work(idOf(delivery));
    return [webhookInbox({ store, concurrency: WORKERS, verify, id: idOf, process })];
  },
};

answer(async () => {
  const app: Express = express();
  app.post('/webhooks', ...routes[peer]());
  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
