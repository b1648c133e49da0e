// @ts-check
import { closeOnSignals } from '@webhook-backpressure/express';
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import express from 'express';

const { PORT = '3000', DATABASE_URL = 'postgres://localhost/webhooks', WEBHOOK_SECRET } = process.env;
const app = express();
// Without `process` it only receives: examples/worker.js handles the deliveries. Run as many of both as you need.
const webhooks = webhookInbox({
  store: postgresStore({ connectionString: DATABASE_URL }),
  // Put your sender here; docs/inbox.md lists the verifiers. `false` accepts deliveries from anyone.
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
