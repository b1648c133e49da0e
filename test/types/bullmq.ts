// Compiled and never run: queues of both versions of BullMQ, with types of the user's own, without a cast.
import { bullmqDoor, deliveryOf, type WebhookJobData } from '@webhook-backpressure/bullmq';
import type { Job, Queue as Queue6 } from 'bullmq';
import type { Queue as Queue5 } from 'bullmq5';

export function withBoth(
  plain6: Queue6,
  plain5: Queue5,
  typed6: Queue6<WebhookJobData, number, 'webhook'>,
  typed5: Queue5<WebhookJobData, number, 'webhook'>,
): void {
  bullmqDoor(plain6);
  bullmqDoor(plain5);
  bullmqDoor(typed6, { jobName: 'webhook' });
  bullmqDoor(typed5);
  // @ts-expect-error -- no queue
  bullmqDoor('orders');
}

export function inAWorker(job: Job<WebhookJobData>): unknown {
  return deliveryOf(job).json();
}
