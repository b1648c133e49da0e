import { Hono } from 'hono';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/hono';
import type { Exactly } from './exactly.ts';

const middleware = webhookBackpressure({
  capacity: 10,
  keyGenerator: (c) => c.req.header('x-shop') ?? 'none',
});
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const app = new Hono();
app.use(middleware);
app.post('/webhooks', (c) => {
  const info = c.get('backpressure');
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  return c.json({ key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth });
});

const answer = await app.request('/webhooks', { method: 'POST', headers: { 'x-shop': 'shop-1' } });
console.log(await answer.text());
