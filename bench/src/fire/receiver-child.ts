import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookInbox as inboxForExpress } from '@webhook-backpressure/express/inbox';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import { webhookInbox as inboxForFastify } from '@webhook-backpressure/fastify/inbox';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookInbox as inboxForHono } from '@webhook-backpressure/hono/inbox';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { createServer, type Server } from 'node:http';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { handle, INBOX, LIMITS } from './handler.ts';
import { type Framework, NEXT_APP, type Protection } from './setup.ts';

const [framework, protection] = process.argv.slice(2) as [Framework, Protection];

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
  async 'Next.js'() {
    process.env['PROTECTION'] = protection;
    // Its lines would be in the table.
    console.log = console.error;
    const { default: next } = await import('next');
    const app = next({ dir: NEXT_APP });
    await app.prepare();
    return createServer(app.getRequestHandler());
  },
};

answer(async () => listen(await servers[framework]()));
