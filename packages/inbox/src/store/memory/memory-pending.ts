import type { StoredDelivery } from '../../delivery/stored-delivery.ts';
import { HeapSlot, type Place, type QueuedEntry } from './key-line.ts';

/** An unfinished delivery of a memory store. */
export class PendingEntry implements QueuedEntry {
  heapIndex = 0;
  place: Place = 'ready';
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  readonly order: number;
  dueMs: number;
  /** Whether `dueMs` was set by a retry. Without one the delivery is due whatever the clock says. */
  isRetry = false;
  attempts = 0;
  strandings = 0;
  owner: object | null = null;
  leaseEndsMs = 0;
  readonly age: HeapSlot<PendingEntry> = new HeapSlot<PendingEntry>(this);
  readonly claim: HeapSlot<PendingEntry> = new HeapSlot<PendingEntry>(this);

  get key(): string {
    return this.delivery.key;
  }

  constructor(delivery: StoredDelivery, bytes: number, order: number, dueMs: number) {
    this.delivery = delivery;
    this.bytes = bytes;
    this.order = order;
    this.dueMs = dueMs;
  }
}
