import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import type { Inbox } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const intake: Intake = createIntake({ clock: manualClock() });
const listener = withBackpressure(
  (_req, res) => {
    res.end(JSON.stringify({ key: 'shop-1', typed: true, depth: listener.intake.snapshot().depth }));
  },
  { intake, keyGenerator: () => 'shop-1' },
);

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = true;

export async function main(): Promise<unknown> {
  const server = createServer((req, res) => {
    if (req.url === '/inbox') webhooks(req, res);
    else listener(req, res);
  }).on('checkContinue', listener);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  const response = await fetch(`${url}/webhooks`, { method: 'POST', headers: { 'x-shop': 'shop-1' } });
  const answered: unknown = await response.json();
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  const inbox = { ...delivered, typed: isInbox };
  server.closeAllConnections();
  server.close();
  return { middleware: answered, inbox };
}
