// @ts-check
import { dashboard } from '@webhook-backpressure/dashboard';
import { closeOnSignals } from '@webhook-backpressure/express';
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { logEvents } from '@webhook-backpressure/observe';
import { collect } from '@webhook-backpressure/prometheus';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';
import { register } from 'prom-client';

const { PORT = '3000', DATABASE = './webhooks.db', WEBHOOK_SECRET, PAGE_PASSWORD = '' } = process.env;
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

// Why a delivery was rejected or failed. The messages of errors may contain secrets and data of senders.
logEvents(webhooks.inbox, console, { errors: true });

// Metrics for Prometheus.
collect(webhooks.inbox);
app.get('/metrics', async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
});

// The live page needs a secret: set PAGE_PASSWORD.
if (PAGE_PASSWORD !== '') {
  const page = dashboard({ inboxes: { webhooks: webhooks.inbox }, authorize, allowUpdate: true });
  app.use('/backpressure', page.node);
}

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(webhooks.inbox, { server });

/**
 * Who may use the live page: a browser asks for the name `operator` and the password.
 *
 * @param {Request} request
 */
function authorize({ headers }) {
  if (headers.get('authorization') === `Basic ${btoa(`operator:${PAGE_PASSWORD}`)}`) return true;
  return new Response('Unauthorized', { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
}
