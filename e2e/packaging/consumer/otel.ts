import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Inbox } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import { instrument } from '@webhook-backpressure/otel';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

class Reader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const reader = new Reader();
const meter = new MeterProvider({ readers: [reader] }).getMeter('app');
const listener = withBackpressure((_req, res) => res.end(), { keyGenerator: () => 'shop-1' });
const stop: Exactly<ReturnType<typeof instrument>, () => void> = true;

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = stop;

async function valueOf(name: string): Promise<unknown> {
  const { resourceMetrics } = await reader.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0]?.value;
}

export async function main(): Promise<unknown> {
  const end = instrument(listener.intake, { meter });
  const server = createServer((req, res) => {
    if (req.url === '/inbox') webhooks(req, res);
    else listener(req, res);
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  await fetch(`${url}/webhooks`, { method: 'POST' });
  const arrived = (await valueOf('webhook.intake.arrivals')) === 1;
  const depth = await valueOf('webhook.intake.depth');
  const delivered = await deliver(webhooks.inbox, (delivery) => fetch(`${url}/inbox`, delivery));
  end();
  server.closeAllConnections();
  server.close();
  return {
    middleware: { key: arrived ? 'shop-1' : 'no arrival', typed: stop, depth },
    inbox: { ...delivered, typed: isInbox },
  };
}
