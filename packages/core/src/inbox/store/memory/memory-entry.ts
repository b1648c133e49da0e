import type { Heaped } from '../../../base/min-heap.ts';
import type { Lined } from './memory-lines.ts';
import type { StoredDelivery } from '../../delivery/stored-delivery.ts';

/** A place in one of several heaps that hold the same thing. */
export class Slot<T> implements Heaped {
  heapIndex = 0;
  readonly of: T;

  constructor(of: T) {
    this.of = of;
  }
}

/** An unfinished delivery of a memory store, with its places in the heaps. */
export class Entry implements Lined {
  heapIndex = 0;
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** In which it was put. */
  readonly order: number;
  dueMs: number;
  /** Whether it has been put back to a later time; else it is due whatever the clock says. */
  isRetry = false;
  attempts = 0;
  strandings = 0;
  owner: object | null = null;
  leaseEndsMs = 0;
  readonly age: Slot<Entry> = new Slot<Entry>(this);
  /** Among the claims of its owner. */
  readonly claim: Slot<Entry> = new Slot<Entry>(this);

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
