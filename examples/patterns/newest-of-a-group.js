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
  // A burst of updates of one product needs one call of the slow system: with the newest.
  coalesce: ({ json }) => {
    const { product } = /** @type {{ product?: string }} */ (json());
    return product ?? null;
  },
  concurrency: 1,
  process: async ({ text }) => {
    console.log('updating', text());
    await new Promise((resolve) => setTimeout(resolve, 500));
  },
});
webhooks.inbox.subscribe((event) => {
  if (event.type === 'completed' && event.as === 'coalesced') console.log('skipped', event.id);
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
