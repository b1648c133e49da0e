import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookInbox as inboxForExpress } from '@webhook-backpressure/express/inbox';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import { webhookInbox as inboxForFastify } from '@webhook-backpressure/fastify/inbox';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookInbox as inboxForHono } from '@webhook-backpressure/hono/inbox';
import { memoryStore, verifiers, type InboxOptions } from '@webhook-backpressure/inbox';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { createServer, type Server } from 'node:http';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { type Framework, HANDLING_MS, type Protection, SECRET, WORKERS } from './setup.ts';

const [framework, protection] = process.argv.slice(2) as [Framework, Protection];

const LIMITS = { concurrency: WORKERS };
let free = WORKERS;
const waiting: (() => void)[] = [];

/** A handler that needs one of {@link WORKERS} connections to a database. */
async function handle(): Promise<void> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  await wait(HANDLING_MS);
  const next = waiting.shift();
  if (next === undefined) free += 1;
  else next();
}

const github = verifiers.github({ secret: SECRET });
const svix = verifiers.svix({ secret: SECRET });
const INBOX: InboxOptions = {
  ...LIMITS,
  store: memoryStore(),
  verify: (delivery) => ('svix-id' in delivery.headers ? svix : github)(delivery),
  process: handle,
};

const servers: Readonly<Record<Framework, () => Promise<Server>>> = {
  Express() {
    const app = express();
    if (protection === 'inbox') app.post('/webhooks', inboxForExpress(INBOX));
    if (protection === 'hold') app.use('/webhooks', forExpress(LIMITS));
    app.post('/webhooks', async (_req, res) => {
      await handle();
      res.sendStatus(204);
    });
    return Promise.resolve(createServer(app));
  },
  async Fastify() {
    const app = Fastify();
    if (protection === 'inbox') app.post('/webhooks', inboxForFastify(INBOX));
    if (protection === 'hold') await app.register(forFastify, LIMITS);
    if (protection !== 'inbox')
      app.post('/webhooks', async (_request, reply) => {
        await handle();
        return reply.code(204).send();
      });
    await app.ready();
    return app.server;
  },
  Hono() {
    const app = new Hono();
    if (protection === 'inbox') app.post('/webhooks', inboxForHono(INBOX));
    if (protection === 'hold') app.use('/webhooks', forHono(LIMITS));
    app.post('/webhooks', async (c) => {
      await handle();
      return c.body(null, 204);
    });
    const listener = getRequestListener(app.fetch);
    return Promise.resolve(createServer((req, res) => void listener(req, res)));
  },
};

answer(async () => listen(await servers[framework]()));
