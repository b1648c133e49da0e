import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/koa';
import type { Exactly } from './exactly.ts';

const middleware = webhookBackpressure({ capacity: 10, keyGenerator: (ctx) => ctx.get('x-shop') });
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const app = new Koa();
app.use(middleware);
app.use((ctx) => {
  const info = ctx.state.backpressure;
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  ctx.body = { key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth };
});

const server = app.listen(0);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const answer = await fetch(`http://127.0.0.1:${String(port)}/webhooks`, {
  method: 'POST',
  headers: { 'x-shop': 'shop-1' },
});
console.log(await answer.text());
server.closeAllConnections();
server.close();
