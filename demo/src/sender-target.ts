import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express, { type Express } from 'express';
import { Webhook } from 'standardwebhooks';
import { openChannel } from './channel.ts';
import { ConnectionPool } from './pool.ts';
import type { TargetFigures, TargetKind, TargetOrders, TargetReports } from './sender-messages.ts';
import { POOL, WARM_UP } from './setup.ts';

const channel = openChannel<TargetOrders, TargetReports>();

channel.on('start', ({ kind, secret }) => {
  const figures: TargetFigures = { stored: 0, repeated: 0, requests: 0 };
  const app = receiver(kind, secret, figures);
  const server = createServer((req, res) => {
    figures.requests += 1;
    if (kind === 'hanging') req.resume();
    else app(req, res);
  });
  server.listen(0, '127.0.0.1', () => {
    channel.send('listening', { port: (server.address() as AddressInfo).port });
  });
  channel.on('look', () => {
    channel.send('looked', figures);
  });
});

/** Verifies and stores. The limited one needs a connection of a pool for that. */
function receiver(kind: TargetKind, secret: string, figures: TargetFigures): Express {
  const webhook = new Webhook(secret);
  const stored = new Set<string>();
  const pool = new ConnectionPool(POOL);
  const app = express();
  // The header tells senders how much room there is, on every answer.
  if (kind === 'limited') app.use(webhookBackpressure({ standardHeaders: 'draft-8' }));
  app.post('/webhooks', express.raw({ type: 'application/json', limit: '1mb' }), async (req, res) => {
    const id = req.get('webhook-id') ?? '';
    webhook.verify(req.body as Buffer, {
      'webhook-id': id,
      'webhook-timestamp': req.get('webhook-timestamp') ?? '',
      'webhook-signature': req.get('webhook-signature') ?? '',
    });
    if (kind === 'limited') {
      const connection = await pool.connect();
      await connection.query();
      connection.release();
    }
    if (id.startsWith(WARM_UP.prefix)) {
      res.sendStatus(204);
      return;
    }
    if (stored.has(id)) figures.repeated += 1;
    stored.add(id);
    figures.stored = stored.size;
    res.sendStatus(204);
  });
  return app;
}
