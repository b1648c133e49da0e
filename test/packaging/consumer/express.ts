import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import backpressure, { webhookBackpressure } from '@webhook-backpressure/express';
import type { Exactly } from './exactly.ts';

const middleware = webhookBackpressure({ capacity: 10, keyGenerator: (req) => req.get('x-shop') ?? 'none' });
const isOneFunction: Exactly<typeof backpressure, typeof webhookBackpressure> = true;

const app = express();
app.use(middleware);
app.post('/webhooks', (req, res) => {
  const info = req.backpressure;
  const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
  res.json({ key: info?.key, typed: waitedMs, depth: middleware.intake.snapshot().depth });
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
