import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Inbox } from '@webhook-backpressure/inbox';
import { dashboard, type Dashboard, type PageState } from '@webhook-backpressure/dashboard';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const listener = withBackpressure((_req, res) => res.end(), { keyGenerator: () => 'shop-1' });
const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = true;

const page: Dashboard = dashboard({
  intakes: { 'shop-1': listener.intake },
  inboxes: { inbox: webhooks.inbox },
  authorize: (request) => request.headers.get('x-user') === 'ops',
});

export async function main(): Promise<unknown> {
  const server = createServer((req, res) => {
    if (req.url === '/inbox') webhooks(req, res);
    else page.node(req, res);
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  const refused = await fetch(`${url}/ops/state`);
  const shown = await fetch(`${url}/ops`, { headers: { 'x-user': 'ops' } });
  const isShown = refused.status === 401 && (await shown.text()).includes('<script');
  const answer = await page.fetch(new Request(`${url}/state`, { headers: { 'x-user': 'ops' } }));
  const { intakes } = (await answer.json()) as PageState;
  const [[key, view] = ['', undefined]] = Object.entries(intakes);
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  page.close();
  server.closeAllConnections();
  server.close();
  return {
    middleware: { key, typed: isShown, depth: view?.snapshot.depth },
    inbox: { ...delivered, typed: isInbox },
  };
}
