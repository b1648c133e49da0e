// What a runtime that has node:http serves with it: an inbox for each name in `x-app`, as the app has.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { inboxOptions } from './inbox-options.js';

/** @type {Map<string, ReturnType<typeof webhookInbox>>} */
const inboxes = new Map();

/** Serves them, and says where. */
export async function serveInboxes() {
  const server = createServer((req, res) => {
    const name = String(req.headers['x-app']);
    const webhooks = inboxes.get(name) ?? webhookInbox(inboxOptions());
    inboxes.set(name, webhooks);
    if (req.method === 'POST') {
      webhooks(req, res);
      return;
    }
    const { inbox } = webhooks;
    const asked = req.url === '/inbox/close' ? inbox.close() : Promise.resolve(inbox.snapshot());
    void asked.then((said) => res.end(JSON.stringify(said)));
  });
  server.listen(0);
  await once(server, 'listening');
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}
