import type { ReceivingStore } from '@webhook-backpressure/inbox';
import { BullmqStore } from './bullmq-store.ts';
import { settle, type BullmqDoorOptions, type BullmqQueue } from './options.ts';

/**
 * The store of a receiver that adds verified deliveries to your own queue of BullMQ, where your own workers process them.
 * The receiver acknowledges a delivery when Redis has answered that its job is stored. See the README for what the
 * connection of the queue needs, and for what this cannot promise.
 *
 * @param queue - a `Queue` of BullMQ 5.34 or later, on Redis. The store neither closes it nor listens to its events.
 * @throws BackpressureError for an invalid queue or option.
 */
export function bullmqDoor(queue: BullmqQueue, options: BullmqDoorOptions = {}): ReceivingStore {
  return new BullmqStore(queue, settle(queue, options));
}
