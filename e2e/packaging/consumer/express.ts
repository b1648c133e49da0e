import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Inbox } from '@webhook-backpressure/inbox';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const middleware = webhookBackpressure({ capacity: 10, keyGenerator: (req) => req.get('x-shop') ?? 'none' });
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;

const app = express();
app.post('/inbox', webhooks);
app.use(middleware);
app.post('/webhooks', (req, res) => {
  const info = req.backpressure;
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  res.json({ key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth });
});

export async function main(): Promise<unknown> {
  const server = app.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  const response = await fetch(`${url}/webhooks`, { method: 'POST', headers: { 'x-shop': 'shop-1' } });
  const answered: unknown = await response.json();
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  const inbox = { ...delivered, typed: isInbox };
  server.closeAllConnections();
  server.close();
  return { middleware: answered, inbox };
}
