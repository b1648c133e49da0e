import type { Heaped } from '../../../base/min-heap.ts';
import type { StoredDelivery } from '../../delivery/stored-delivery.ts';
import type { QueuedEntry } from './memory-queue.ts';

/** A position in a heap, for an item that is in several heaps. */
export class HeapSlot<T> implements Heaped {
  heapIndex = 0;
  readonly of: T;

  constructor(of: T) {
    this.of = of;
  }
}

/** An unfinished delivery of a memory store. */
export class PendingEntry implements QueuedEntry {
  heapIndex = 0;
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
