// @ts-check
// Payments before imports, and new events before a backlog. The class of a delivery is the first part of its key, so that an
// import of thousands of profiles delays no payment, and one tenant delays no other.
import { createServer } from 'node:http';
import { memoryStore, webhookInbox } from '@webhook-backpressure/node/inbox';

/** @type {Record<string, import('@webhook-backpressure/node/inbox').KeyPriority>} */
const CLASSES = { 'invoice.paid': 'critical', 'profile.imported': 'bulk' };
/** @type {string[]} */
const order = [];

const webhooks = webhookInbox({
  store: memoryStore(),
  verify: false,
  concurrency: 2,
  keyGenerator: ({ json }) => {
    const { type, tenant } = /** @type {{ type: string, tenant: string }} */ (json());
    return `${CLASSES[type] ?? 'normal'}:${tenant}`;
  },
  limits: (key) => ({
    priority: /** @type {import('@webhook-backpressure/node/inbox').KeyPriority} */ (key.split(':')[0]),
    freshShare: 0.3,
  }),
  process: async ({ id }) => {
    order.push(id);
    await new Promise((resolve) => setTimeout(resolve, 5));
  },
});

async function sendAll() {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @type {(id: string, type: string) => Promise<Response>} */
  const send = (id, type) =>
    fetch(`http://127.0.0.1:${String(port)}/`, {
      method: 'POST',
      headers: { 'webhook-id': id },
      body: JSON.stringify({ type, tenant: 'acme' }),
    });
  await webhooks.inbox.pause();
  for (let at = 0; at < 200; at += 1) await send(`profile ${String(at)}`, 'profile.imported');
  await send('the invoice', 'invoice.paid');
  await webhooks.inbox.resume();
}

const server = createServer(webhooks).listen(0, '127.0.0.1', () => {
  void sendAll();
});

webhooks.inbox.subscribe(({ type }) => {
  if (type !== 'completed' || webhooks.inbox.snapshot().totals.completed < 201) return;
  console.log('the invoice started among the first four:', order.indexOf('the invoice') < 4);
  console.log('the last profile started among the first twenty:', order.indexOf('profile 199') < 20);
  console.log('every delivery started once:', new Set(order).size === 201 && order.length === 201);
  server.close();
  server.closeAllConnections();
  void webhooks.inbox.close();
});
