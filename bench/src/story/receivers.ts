import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import underPressure from '@fastify/under-pressure';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express, { type Express, type RequestHandler } from 'express';
import expressQueue from 'express-queue';
import { rateLimit } from 'express-rate-limit';
import { fastify } from 'fastify';
import pLimit from 'p-limit';
import { DRAIN_RATE, MAX_WAIT_MS, POOL, type ReceiverName } from './setup.ts';

/** Stores a delivery in the database. */
export type Store = (delivery: { id: string }) => Promise<void>;

/** The queue that is processed while a sender waits. */
const QUEUE = (DRAIN_RATE * MAX_WAIT_MS) / 1000;

/** The middleware before the handler in Express. */
const guards: Record<
  Exclude<ReceiverName, 'under-pressure' | 'p-limit' | 'webhook-inbox'>,
  () => RequestHandler[]
> = {
  nothing: () => [],
  'express-queue': () => [expressQueue({ activeLimit: POOL, queuedLimit: QUEUE })],
  'express-rate-limit': () => [
    rateLimit({ windowMs: 1000, limit: DRAIN_RATE, standardHeaders: 'draft-8', legacyHeaders: false }),
  ],
  'webhook-backpressure': () => [webhookBackpressure({ concurrency: POOL, maxWaitMs: MAX_WAIT_MS })],
};

/**
 * The same handler in each of them; returns the server, listening.
 *
 * @param folder - where an inbox keeps its file.
 */
export async function startReceiver(name: ReceiverName, store: Store, folder: string): Promise<Server> {
  if (name === 'under-pressure') return startFastify(store);
  const app = express();
  if (name === 'webhook-inbox') {
    const webhooks = webhookInbox({
      store: sqliteStore({ path: join(folder, 'webhooks.db') }),
      verify: false,
      concurrency: POOL,
      process: (delivery) => store(delivery.json() as { id: string }),
    });
    app.post('/webhooks', webhooks);
    return listen(app);
  }
  const limit = pLimit(POOL);
  app.use('/webhooks', ...(name === 'p-limit' ? [] : guards[name]()), express.json());
  app.post('/webhooks', async (req, res) => {
    const delivery = req.body as { id: string };
    await (name === 'p-limit' ? limit(store, delivery) : store(delivery));
    res.sendStatus(204);
  });
  return listen(app);
}

async function listen(app: Express): Promise<Server> {
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startFastify(store: Store): Promise<Server> {
  const app = fastify();
  // As its documentation has it, with room for the memory of a process of today.
  await app.register(underPressure, {
    maxEventLoopDelay: 1000,
    maxHeapUsedBytes: 1e9,
    maxRssBytes: 1e9,
    maxEventLoopUtilization: 0.98,
  });
  app.post('/webhooks', async (request, reply) => {
    await store(request.body as { id: string });
    return reply.status(204).send();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app.server;
}
