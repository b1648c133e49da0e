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
  // A code that arrives after a minute is of no use. Other deliveries have no limit.
  ttlMs: ({ json }) => (/** @type {{ type?: string }} */ (json()).type === 'login.code' ? 60_000 : Infinity),
  process: ({ text }) => {
    console.log('processed', text());
  },
  // Dead letters stay for a day, so that you can look at them.
  maxDeadLetterAgeMs: 86_400_000,
  onDead: ({ id }, error) => {
    console.log('dead', id, error);
  },
});
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
