import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryStore, Unrecoverable } from '@webhook-backpressure/inbox';
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import express from 'express';
import { openChannel } from './channel.ts';
import type { WatchedReceiverOrders, WatchedReceiverReports } from './messages.ts';
import { isFromThisMachine } from './page.ts';
import { POOL } from './setup.ts';

const MINUTE_MS = 60_000;
/** Of the inbox's deliveries. */
const FAILING = { once: 0.02, forGood: 0.002 };

const channel = openChannel<WatchedReceiverOrders, WatchedReceiverReports>();

channel.on('start', ({ port }) => {
  const backpressure = webhookBackpressure({
    concurrency: POOL.max,
    keyGenerator: (req) => req.get('x-tenant'),
  });
  const webhooks = webhookInbox({
    store: memoryStore(),
    // The load is not signed, and comes from this machine only.
    verify: false,
    capacity: 800,
    concurrency: POOL.max,
    keyGenerator: ({ headers }) => String(headers['x-tenant']),
    process: async (_delivery, { attempt }) => {
      await work();
      const chance = Math.random();
      if (chance < FAILING.forGood) throw new Unrecoverable('The order does not exist.');
      if (attempt === 1 && chance < FAILING.once) throw new Error('The ledger did not answer.');
    },
    // What has been processed stays in memory for so long.
    retentionMs: 5 * MINUTE_MS,
    maxDeadLetterAgeMs: 30 * MINUTE_MS,
  });
  // The page shows failures. Without a listener, the first one would be a warning of the process.
  webhooks.inbox.subscribe(() => undefined);
  const page = dashboard({
    intakes: { webhooks: backpressure.intake },
    inboxes: { inbox: webhooks.inbox },
    authorize: isFromThisMachine,
    allowUpdate: true,
  });

  const app = express();
  app.use('/webhooks', backpressure);
  app.post('/webhooks', express.raw({ type: () => true, limit: '1mb' }), async (_req, res) => {
    await work();
    res.sendStatus(204);
  });
  app.post('/inbox', webhooks);
  app.use('/', page.node);

  const server = createServer(app);
  server.once('error', ({ message }) => {
    channel.send('failed', { message });
  });
  server.listen(port, '127.0.0.1', () => {
    channel.send('listening', { port: (server.address() as AddressInfo).port });
  });
});

/** A small transaction. */
function work(): Promise<void> {
  return sleep(POOL.queryFromMs + (POOL.queryToMs - POOL.queryFromMs) * Math.random());
}
