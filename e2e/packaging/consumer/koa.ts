import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import type { Inbox } from '@webhook-backpressure/inbox';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/koa';
import { webhookInbox } from '@webhook-backpressure/koa/inbox';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const middleware = webhookBackpressure({ capacity: 10, keyGenerator: (ctx) => ctx.get('x-shop') });
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;

const app = new Koa();
app.use((ctx, next): unknown => (ctx.path === '/inbox' ? webhooks(ctx, next) : next()));
app.use(middleware);
app.use((ctx) => {
  const info = ctx.state.backpressure;
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  ctx.body = { key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth };
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
