// @ts-check
import { closeOnSignals, verifiers, webhookInbox } from '@webhook-backpressure/express';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

const { PORT = '3000', DATABASE = './webhooks.db', WEBHOOK_SECRET } = process.env;
const app = express();
const webhooks = webhookInbox({
  store: sqliteStore({ path: DATABASE }),
  // Put your sender here; docs/inbox.md lists the verifiers. `false` accepts deliveries from anyone.
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
  process: ({ id, text }, { attempt }) => {
    // Your work. If it throws or rejects, the delivery is retried later.
    console.log('attempt', attempt, 'at', id + ':', text());
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
