import { Hono } from 'hono';
import { memoryStore, type Inbox } from '@webhook-backpressure/core';
import backpressure, { webhookBackpressure, webhookInbox } from '@webhook-backpressure/hono';
import { completed } from './completed.ts';
import type { Exactly } from './exactly.ts';

const middleware = webhookBackpressure({
  capacity: 10,
  keyGenerator: (c) => c.req.header('x-shop') ?? 'none',
});
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const webhooks = webhookInbox({
  store: memoryStore(),
  verify: ({ headers, rawBody }) => headers['x-shop'] === 'shop-1' && rawBody.byteLength === 2,
  process: async ({ json, id }, { attempt, signal }) => {
    const itsSignal: AbortSignal = signal;
    await Promise.resolve([json(), id, attempt, itsSignal.aborted]);
  },
});
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;
const handled = completed(webhooks.inbox);

const app = new Hono();
app.post('/inbox', webhooks);
app.use(middleware);
app.post('/webhooks', (c) => {
  const info = c.get('backpressure');
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  return c.json({ key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth });
});

const answer = await app.request('/webhooks', { method: 'POST', headers: { 'x-shop': 'shop-1' } });
const acknowledged = await app.request('/inbox', {
  method: 'POST',
  headers: { 'x-shop': 'shop-1', 'webhook-id': 'evt_1' },
  body: '{}',
});
const inbox = { status: acknowledged.status, completed: await handled, typed: isInbox };
await webhooks.inbox.close();
console.log(JSON.stringify({ middleware: await answer.json(), inbox }));
