// @ts-check
// Redrives the deliveries that one bug has failed, slowly, after a look at them.
import { once } from 'node:events';
import { memoryStore, webhookInbox } from '@webhook-backpressure/express/inbox';
import express from 'express';

let isFixed = false;
const webhooks = webhookInbox({
  // A store on a disk in production: sqliteStore or postgresStore.
  store: memoryStore(),
  verify: false,
  retry: { attempts: 1 },
  process: ({ id, json }) => {
    const { type, price } = /** @type {{ type: string, price?: number }} */ (json());
    if (type === 'order.created' && price === undefined && !isFixed) throw new Error('price is undefined');
    if (type === 'order.deleted') throw new Error('The order does not exist.');
    console.log('processed', id);
  },
});
const { inbox } = webhooks;
const server = express().post('/webhooks', webhooks).listen(0);
await once(server, 'listening');

const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const ended = new Promise((resolve) => {
  inbox.subscribe(({ type }) => {
    const { totals } = inbox.snapshot();
    if (type === 'dead' && totals.dead === 3) resolve(undefined);
  });
});
for (const [id, type] of Object.entries({ a: 'order.created', b: 'order.deleted', c: 'order.created' })) {
  const headers = { 'webhook-id': id };
  await fetch(`http://localhost:${String(port)}/webhooks`, {
    method: 'POST',
    body: JSON.stringify({ type }),
    headers,
  });
}
await ended;

// The bug is fixed and deployed. What would be redriven?
isFixed = true;
const filter = { event: 'order.created', error: 'price is undefined' };
const { count, first } = await inbox.deadLetters.redrive(filter, { dryRun: true });
console.log(count, 'would be redriven:', first.map(({ id }) => id).join(', '));

const redriven = await inbox.deadLetters.redrive(filter, {
  perSecond: 10,
  onProgress: ({ moved, looked, total }) => {
    console.log(moved, 'redriven,', looked, 'of', total, 'looked at');
  },
});
console.log(redriven, 'redriven');
// Handlers finish before it resolves.
await inbox.close();
server.close();
