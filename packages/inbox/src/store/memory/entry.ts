import type { Heaped } from '@webhook-backpressure/base';
import type { StoredDelivery } from '../../delivery/stored-delivery.ts';

/** Who claims deliveries: a store object. */
export interface Owner {
  readonly claims: Set<Entry>;
}

/** The position of a delivery in a heap; it is in several. */
export class Slot implements Heaped {
  heapIndex = 0;
  readonly entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }
}

/** A delivery: unfinished, a dead letter, or completed and kept. */
export class Entry implements Heaped {
  /** Its position among the waiting deliveries of its key. */
  heapIndex = 0;
  readonly byAge: Slot = new Slot(this);
  readonly byOrder: Slot = new Slot(this);
  readonly byNewest: Slot = new Slot(this);
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** Position in the order of first storing. */
  readonly order: number;
  attempts = 0;
  /** Whether a settlement has set its due time. */
  isDelayed = false;
  /** Whether it was never tried and never delayed, since it waits. */
  isFresh = false;
  strandings = 0;
  dueMs = 0;
  owner: Owner | undefined;
  leaseEndsMs = 0;
  /** When it became a dead letter or was completed, and its position in that order. */
  endedMs = 0;
  end = 0;
  reason: 'dead' | 'overflow' = 'dead';
  error = '';

  constructor(delivery: StoredDelivery, bytes: number, order: number) {
    this.delivery = delivery;
    this.bytes = bytes;
    this.order = order;
  }
}

/** Deliveries in the order in which they were added. */
export class Pile extends Set<Entry> {
  bytes = 0;

  override add(entry: Entry): this {
    this.bytes += entry.bytes;
    return super.add(entry);
  }

  override delete(entry: Entry): boolean {
    const isFound = super.delete(entry);
    if (isFound) this.bytes -= entry.bytes;
    return isFound;
  }
}

/** The order of the deliveries of a key. */
export function isDueBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
