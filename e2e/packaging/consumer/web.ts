import type { Inbox } from '@webhook-backpressure/inbox';
import backpressure, { backpressureOf, createIntake, withBackpressure } from '@webhook-backpressure/web';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import type { Exactly } from './exactly.ts';
import { deliver, shopInbox } from './shop-inbox.ts';

const isOneFunction: Exactly<typeof backpressure, typeof withBackpressure> = true;
const intake = createIntake({ capacity: 10 });
const POST = withBackpressure(
  (request) => {
    const info = backpressureOf(request);
    const waitedMs: Exactly<NonNullable<typeof info>['waitedMs'], number> = isOneFunction;
    return Response.json({ key: info?.key, typed: waitedMs, depth: intake.snapshot().depth });
  },
  { intake, keyGenerator: (request) => request.headers.get('x-shop') ?? 'none' },
);

const webhooks = webhookInbox(shopInbox());
const isInbox: Exactly<typeof webhooks.inbox, Inbox> = isOneFunction;

export async function main(): Promise<unknown> {
  const url = 'http://localhost/webhooks';
  const response = await POST(new Request(url, { method: 'POST', headers: { 'x-shop': 'shop-1' } }));
  const answered: unknown = await response.json();
  const delivered = await deliver(webhooks.inbox, (delivery) => webhooks(new Request(url, delivery)));
  const inbox = { ...delivered, typed: isInbox };
  return { middleware: answered, inbox };
}
