import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type FleetRegistry, joinFleet } from '@webhook-backpressure/fleet';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import { redisRegistry } from '@webhook-backpressure/redis';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

export async function main(): Promise<unknown> {
  const { REDIS_URL: url = '' } = process.env;
  const resource = `consumer-${String(process.pid)}`;
  const first = new Redis(url);
  const second = createClient({ url });
  await second.connect();
  try {
    const registry = redisRegistry(first);
    const isRegistry: Exactly<typeof registry, FleetRegistry> = true;
    const listeners = [registry, redisRegistry(second)].map((one) => {
      const listener = withBackpressure((_req, res) => res.end(), { keyGenerator: () => 'shop-1' });
      const fleet = joinFleet(listener.intake, { registry: one, resource, concurrency: 8 });
      return { listener, fleet };
    });
    // Both see each other within some beats.
    while (listeners.some(({ fleet }) => fleet.snapshot().members.length !== 2))
      await new Promise((resolve) => setTimeout(resolve, 100));
    const webhooks = webhookInbox(shopInbox());
    const server = createServer((req, res) => {
      if (req.url === '/inbox') webhooks(req, res);
      else listeners[0]?.listener(req, res);
    }).listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const base = `http://127.0.0.1:${String(port)}`;
    await (await fetch(base, { method: 'POST' })).text();
    const depth = listeners[0]?.listener.intake.snapshot().depth;
    const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${base}/inbox`, delivery));
    await Promise.all(listeners.map(({ fleet }) => fleet.leave()));
    server.closeAllConnections();
    server.close();
    return {
      middleware: { key: 'shop-1', typed: isRegistry, depth },
      inbox: { ...delivered, typed: true },
    };
  } finally {
    first.disconnect();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- version 4 has no `destroy`
    await second.disconnect();
  }
}
