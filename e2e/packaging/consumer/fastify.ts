import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { Inbox } from '@webhook-backpressure/inbox';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/fastify';
import { webhookInbox } from '@webhook-backpressure/fastify/inbox';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;

const app = fastify();
app.post('/inbox', webhooks);
app.register(async (scope) => {
  await scope.register(webhookBackpressure, {
    capacity: 10,
    keyGenerator: ({ headers }) => String(headers['x-shop']),
  });
  scope.post('/webhooks', (request) => {
    const info = request.backpressure;
    const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
    return { key: info?.key, typed: waitedMs, depth: scope.backpressure.intake.snapshot().depth };
  });
});

export async function main(): Promise<unknown> {
  await app.listen({ port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  const response = await fetch(`${url}/webhooks`, { method: 'POST', headers: { 'x-shop': 'shop-1' } });
  const answered: unknown = await response.json();
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  const inbox = { ...delivered, typed: isInbox };
  app.server.closeAllConnections();
  await app.close();
  return { middleware: answered, inbox };
}
