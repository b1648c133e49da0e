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
  // Up to 500 deliveries of one key, or those that arrive within 200 ms after the first.
  batch: { maxDeliveries: 500, maxWaitMs: 200 },
  processBatch: (deliveries) => {
    // One insert for all of them. Here, a body that is not JSON fails alone, and is retried.
    const results = deliveries.map(({ json }) => {
      try {
        return json();
      } catch (error) {
        return error;
      }
    });
    const rows = results.filter((one) => !(one instanceof Error));
    console.log('inserted', rows.length, 'of', deliveries.length);
    return results;
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
