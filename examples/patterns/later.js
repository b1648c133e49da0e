// @ts-check
import { closeOnSignals } from '@webhook-backpressure/express';
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

const { PORT = '3000', DATABASE = './webhooks.db', WEBHOOK_SECRET } = process.env;
const app = express();
const webhooks = webhookInbox({
  store: sqliteStore({ path: DATABASE }),
  // Put your sender here. `false` accepts deliveries from anyone.
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
  // Acknowledged immediately, and processed when the reminder is due.
  notBefore: ({ json }) => {
    const { remindAt } = /** @type {{ remindAt?: string }} */ (json());
    return remindAt === undefined ? undefined : new Date(remindAt);
  },
  process: ({ text }) => {
    console.log(new Date().toISOString(), text());
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
