import { Hono } from 'hono';
import type { Inbox } from '@webhook-backpressure/inbox';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/hono';
import { webhookInbox } from '@webhook-backpressure/hono/inbox';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const middleware = webhookBackpressure({
  capacity: 10,
  keyGenerator: (c) => c.req.header('x-shop') ?? 'none',
});
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;

const app = new Hono();
app.post('/inbox', webhooks);
app.use(middleware);
app.post('/webhooks', (c) => {
  const info = c.get('backpressure');
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  return c.json({ key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth });
});

export async function main(): Promise<unknown> {
  const response = await app.request('/webhooks', { method: 'POST', headers: { 'x-shop': 'shop-1' } });
  const answered: unknown = await response.json();
  const delivered = await deliver(webhooks.inbox, (delivery) => app.request('/inbox', delivery));
  const inbox = { ...delivered, typed: isInbox };
  return { middleware: answered, inbox };
}
