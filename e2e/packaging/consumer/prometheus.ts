import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry, register } from 'prom-client';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import { collect } from '@webhook-backpressure/prometheus';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const listener = withBackpressure((_req, res) => res.end(), { keyGenerator: () => 'shop-1' });
const webhooks = webhookInbox(shopInbox());

const end = collect(listener.intake, { keys: 1 });
const isEnd: Exactly<typeof end, () => void> = true;
const ofInbox = new Registry();
collect(webhooks.inbox, { register: ofInbox, name: 'shop' });

export async function main(): Promise<unknown> {
  const server = createServer((req, res) => {
    if (req.url === '/inbox') webhooks(req, res);
    else if (req.url === '/metrics') void register.metrics().then((text) => res.end(text));
    else listener(req, res);
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  await (await fetch(`${url}/webhooks`, { method: 'POST' })).text();
  const page = await (await fetch(`${url}/metrics`)).text();
  const [, key] = /^webhook_intake_started_total\{key="([^"]*)",sender="unknown"\} 1$/m.exec(page) ?? [];
  const [, depth] = /^webhook_intake_queue_depth (\d+)$/m.exec(page) ?? [];
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  const stored = (await ofInbox.metrics()).includes('\nwebhook_inbox_stored_total{name="shop"} 1\n');
  const inbox = { ...delivered, typed: stored };
  end();
  server.closeAllConnections();
  server.close();
  return { middleware: { key, typed: isEnd, depth: Number(depth) }, inbox };
}
