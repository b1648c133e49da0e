import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifiers } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';
import { openChannel } from './channel.ts';
import type { InboxReceiverOrders, InboxReceiverReports } from './messages.ts';
import { ConnectionPool } from './pool.ts';
import { POOL } from './setup.ts';

const SAMPLE_MS = 100;

const channel = openChannel<InboxReceiverOrders, InboxReceiverReports>();

channel.on('start', ({ port, secret, inboxPath, databasePath }) => {
  const pool = new ConnectionPool(POOL);
  const webhooks = webhookInbox({
    store: sqliteStore({ path: inboxPath }),
    verify: verifiers.standardWebhooks({ secret }),
    concurrency: POOL.max,
    process: async ({ id }) => {
      const connection = await pool.connect();
      try {
        await connection.query();
        // The database: a line survives this process.
        appendFileSync(databasePath, `${id}\n`);
      } finally {
        connection.release();
      }
    },
  });

  const app = express();
  app.post('/webhooks', webhooks);
  const server = createServer(app);
  server.listen(port, '127.0.0.1', () => {
    channel.send('listening', { port: (server.address() as AddressInfo).port });
  });
  channel.on('look', () => {
    channel.send('looked', {});
  });
  setInterval(() => {
    channel.send('sample', { depth: webhooks.inbox.snapshot().depth });
  }, SAMPLE_MS);
});
