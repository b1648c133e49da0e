// @ts-check
import { verifiers } from '@webhook-backpressure/core';
import { webhookInbox } from '@webhook-backpressure/express';
import { closeOnSignals } from '@webhook-backpressure/node';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

const { PORT = '3000', DATABASE = './webhooks.db', WEBHOOK_SECRET } = process.env;
const app = express();
const webhooks = webhookInbox({
  store: sqliteStore({ path: DATABASE }),
  // Use the verifier of your sender: docs/inbox.md lists them. `false` accepts deliveries from anyone.
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
  process: ({ id, text }, { attempt }) => {
    // Process the delivery here. If this throws or rejects, the inbox retries it later.
    console.log('attempt', attempt, 'at', id + ':', text());
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
