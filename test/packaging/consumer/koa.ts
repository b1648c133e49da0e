import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { memoryStore, type Inbox } from '@webhook-backpressure/core';
import backpressure, { webhookBackpressure, webhookInbox } from '@webhook-backpressure/koa';
import { completed } from './completed.ts';
import type { Exactly } from './exactly.ts';

const middleware = webhookBackpressure({ capacity: 10, keyGenerator: (ctx) => ctx.get('x-shop') });
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

const app = new Koa();
app.use((ctx, next): unknown => (ctx.path === '/inbox' ? webhooks(ctx, next) : next()));
app.use(middleware);
app.use((ctx) => {
  const info = ctx.state.backpressure;
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  ctx.body = { key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth };
});

const server = app.listen(0);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${String(port)}`;
const answer = await fetch(`${url}/webhooks`, { method: 'POST', headers: { 'x-shop': 'shop-1' } });
const acknowledged = await fetch(`${url}/inbox`, {
  method: 'POST',
  headers: { 'x-shop': 'shop-1', 'webhook-id': 'evt_1' },
  body: '{}',
});
const inbox = { status: acknowledged.status, completed: await handled, typed: isInbox };
await webhooks.inbox.close();
console.log(JSON.stringify({ middleware: await answer.json(), inbox }));
server.closeAllConnections();
server.close();
