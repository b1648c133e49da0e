import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import {
  createSender,
  memoryStore,
  parseRetryAfter,
  type Sender,
  tokenBucket,
} from '@webhook-backpressure/sender';
import { verifiers } from '@webhook-backpressure/inbox';
import type { ObservableOutbox, OutboxSnapshot } from '@webhook-backpressure/observe';
import type { Exactly } from './exactly.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export async function main(): Promise<unknown> {
  let handled: (id: string) => void;
  const first = new Promise<string>((resolve) => (handled = resolve));
  const webhooks = webhookInbox({
    store: memoryStore(),
    verify: verifiers.standardWebhooks({ secret: SECRET }),
    process: ({ id, key }) => {
      handled(`${key} ${id}`);
      return Promise.resolve();
    },
  });
  const server = createServer(webhooks).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = createSender({
    store: memoryStore(),
    endpoint: () => ({ url: `http://127.0.0.1:${String(port)}/`, secret: SECRET }),
    allowPrivateAddresses: true,
  });
  const isSender: Exactly<typeof sender, Sender> = true;
  const observed: ObservableOutbox = sender;
  const { status } = await sender.send({ endpoint: 'shop-1', type: 'order.updated', data: {}, id: 'evt_1' });
  const completed = await first;
  const snapshot: OutboxSnapshot = observed.snapshot();
  await sender.close();
  await webhooks.inbox.close();
  server.closeAllConnections();
  server.close();
  return {
    middleware: {
      key: snapshot.endpoints[0]?.endpoint ?? 'shop-1',
      typed: isSender,
      depth: tokenBucket({ perSecond: 1, burst: 1 }).take(1).ok ? 0 : 1,
    },
    inbox: {
      status: status === 'accepted' ? 200 : 500,
      completed: completed.split(' ')[1],
      typed: parseRetryAfter('1', 0) === 1000,
    },
  };
}
