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
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.github({ secret: WEBHOOK_SECRET }),
  // Each handler has its own attempts and dead letters: when one fails, the other does not run again.
  on: {
    'github:push': ({ id }) => {
      console.log('deploy', id);
    },
    '*': ({ id }, { attempt }) => {
      if (attempt === 1) throw new Error('The audit log is down.');
      console.log('audit', id);
    },
  },
  retry: { firstDelayMs: 200 },
  // Without it, deliveries that match no handler are completed.
  process: ({ id }) => {
    console.log('other', id);
  },
});
// The same for handlers that other modules add. Give two of one type different names.
webhooks.inbox.on(
  'github:push',
  ({ id }) => {
    console.log('notify', id);
  },
  { name: 'notify' },
);
app.post('/webhooks', webhooks);

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });
