// @ts-check
// Calls a limited API from a handler. A delivery whose call would wait for more than 5 s is delayed, and its worker is free.
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { limitedFetch } from '@webhook-backpressure/sender/fetch';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

const { PORT = '3000', DATABASE = './webhooks.db', API = 'https://api.example.com/' } = process.env;

const fetch = limitedFetch({
  // What the API documents: 80 % of it are used.
  limits: { [API]: { perSecond: 100, burst: 20 } },
});

const app = express();
const webhooks = webhookInbox({
  store: sqliteStore({ path: DATABASE }),
  // Put your sender here; docs/inbox.md lists the verifiers.
  verify: false,
  process: async ({ id, text }, { attempt, signal }) => {
    const answer = await fetch(new URL('orders', API), { method: 'POST', body: text(), signal });
    if (!answer.ok) throw new Error(`The API answered ${String(answer.status)}.`);
    console.log('attempt', attempt, 'at', id, 'is done');
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
