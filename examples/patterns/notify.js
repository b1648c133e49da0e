// @ts-check
// Sends a notice when an alarm is raised or deliveries become dead letters.
import { once } from 'node:events';
import { memoryStore, Unrecoverable, webhookInbox } from '@webhook-backpressure/express/inbox';
import { notify } from '@webhook-backpressure/observe';
import express from 'express';

const webhooks = webhookInbox({
  // A store on a disk in production: sqliteStore or postgresStore.
  store: memoryStore(),
  verify: false,
  process: ({ json }) => {
    const { order } = /** @type {{ order?: number }} */ (json());
    if (order === undefined) throw new Unrecoverable('The event has no order.');
  },
});
const { inbox } = webhooks;

// Slack's incoming webhook, or any URL; a function here if the variable is not set.
const { NOTICE_URL } = process.env;
const end = notify(inbox, {
  name: 'orders',
  to:
    NOTICE_URL ??
    (({ text }) => {
      console.log(text);
    }),
});

const server = express().post('/webhooks', webhooks).listen(0);
await once(server, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const dead = new Promise((resolve) => {
  inbox.subscribe(({ type }) => {
    if (type === 'dead' && inbox.snapshot().totals.dead === 2) resolve(undefined);
  });
});
for (const id of ['a', 'b']) {
  const headers = { 'webhook-id': id, 'x-github-event': 'push', 'x-github-delivery': id };
  await fetch(`http://localhost:${String(port)}/webhooks`, { method: 'POST', body: '{}', headers });
}
await dead;
// At the end of a process: sends what has been counted since the last notice.
await end();
await inbox.close();
server.close();
