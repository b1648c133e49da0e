import { MinHeap, type Heaped } from '../min-heap.ts';
import type { StoredDelivery } from './stored-delivery.ts';

/** A place in one of several heaps that hold the same thing. */
export class Slot<T> implements Heaped {
  heapIndex = 0;
  readonly of: T;

  constructor(of: T) {
    this.of = of;
  }
}

/** An unfinished delivery of a memory store, with its place in the line of its key. */
export class Entry implements Heaped {
  heapIndex = 0;
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** In which it was put. */
  readonly order: number;
  dueMs: number;
  /** Whether it waits for a retry; else it is due whatever the clock says. */
  isRetry = false;
  attempts = 0;
  strandings = 0;
  owner: object | null = null;
  leaseEndsMs = 0;
  readonly age: Slot<Entry> = new Slot<Entry>(this);
  /** Among those that wait for a retry, or among the claims of its owner. */
  readonly turn: Slot<Entry> = new Slot<Entry>(this);

  constructor(delivery: StoredDelivery, bytes: number, order: number, dueMs: number) {
    this.delivery = delivery;
    this.bytes = bytes;
    this.order = order;
    this.dueMs = dueMs;
  }
}

export function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

/** What waits of one key, the earliest due first. */
export class Line {
  readonly key: string;
  readonly entries: MinHeap<Entry> = new MinHeap<Entry>(isBefore);
  readonly inAll: Slot<Line> = new Slot<Line>(this);
  readonly inFuture: Slot<Line> = new Slot<Line>(this);
  /** Whether it is among those that take turns; else it is looked at when its first one is due. */
  hasTurn = false;
  /** When its first one is due. The heaps of lines go by this, so it changes only while the line is in none. */
  dueMs: number = Number.POSITIVE_INFINITY;

  constructor(key: string) {
    this.key = key;
  }
}

export function isLineBefore(a: Slot<Line>, b: Slot<Line>): boolean {
  return a.of.dueMs < b.of.dueMs;
}
