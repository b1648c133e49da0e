import { type Heaped, MinHeap } from '@webhook-backpressure/base';

/**
 * Where an unfinished delivery is: `ready` and `stranded` ones are due, `delayed` ones wait for a retry, and `behind` ones
 * for the head of their key.
 */
export type Place = 'ready' | 'stranded' | 'delayed' | 'behind' | 'claimed';

/** An unfinished delivery, as the queue orders it. */
export interface QueuedEntry extends Heaped {
  readonly key: string;
  /** Position in the order of storing. */
  readonly order: number;
  attempts: number;
  strandings: number;
  dueMs: number;
  place: Place;
}

/** A position in a heap, for an item that is in several heaps. */
export class HeapSlot<T> implements Heaped {
  heapIndex = 0;
  readonly of: T;

  constructor(of: T) {
    this.of = of;
  }
}

/** The unfinished deliveries of one key. */
export class KeyLine<T extends QueuedEntry> implements Heaped {
  /** Its position among the keys that have a retry, which the queue maintains like the fields after it. */
  heapIndex = 0;
  /** When the first retry is due; Infinity without one, and while the key is paused. */
  retryMs: number;
  previous: KeyLine<T> | undefined;
  next: KeyLine<T> | undefined;
  isInRotation = false;
  readonly key: string;
  /** Higher than that of each line before it. */
  readonly number: number;
  /** When ordered: the only delivery that is not behind. */
  head: T | undefined;
  readonly ready: MinHeap<T> = new MinHeap<T>(isDueBefore);
  #delayed: MinHeap<T> | undefined;
  #stranded: MinHeap<T> | undefined;
  #behind: MinHeap<T> | undefined;
  #claimed: Set<T> | undefined;
  /** All deliveries by their order of storing, once a head was asked for. */
  #turns: { readonly heap: MinHeap<HeapSlot<T>>; readonly slots: Map<T, HeapSlot<T>> } | undefined;
  #size = 0;

  constructor(key: string, number: number) {
    this.key = key;
    this.number = number;
    this.retryMs = Infinity;
  }

  /** The number of unfinished deliveries. */
  get size(): number {
    return this.#size;
  }

  get claimed(): Iterable<T> {
    return this.#claimed ?? [];
  }

  get firstDelayed(): T | undefined {
    return this.#delayed?.top;
  }

  /** Whether no delivery is claimed. */
  get isIdle(): boolean {
    return this.#claimed === undefined || this.#claimed.size === 0;
  }

  /** Adds a delivery that was in no line. */
  enter(entry: T, place: Place): void {
    this.#size += 1;
    this.#addTurn(entry);
    this.#put(entry, place);
  }

  move(entry: T, place: Place): void {
    this.#take(entry);
    this.#put(entry, place);
  }

  /** Removes a delivery that is finished. */
  leave(entry: T): void {
    this.#take(entry);
    this.#size -= 1;
    const slot = this.#turns?.slots.get(entry);
    if (slot === undefined) return;
    this.#turns?.slots.delete(entry);
    this.#turns?.heap.remove(slot);
  }

  /** Of the deliveries that are not claimed, the one that is due first. When ordered, this is the head. */
  earliest(): T | undefined {
    let first = this.ready.top;
    for (const other of [this.#delayed?.top, this.#stranded?.top])
      if (other !== undefined && (first === undefined || isDueBefore(other, first))) first = other;
    return first;
  }

  /** The delivery that was stored first. */
  oldest(): T | undefined {
    if (this.#turns === undefined) {
      this.#turns = { heap: new MinHeap((a, b) => isOlder(a.of, b.of)), slots: new Map() };
      for (const heap of [this.ready, this.#delayed, this.#stranded, this.#behind])
        for (const entry of heap?.items ?? []) this.#addTurn(entry);
      for (const entry of this.claimed) this.#addTurn(entry);
    }
    return this.#turns.heap.top?.of;
  }

  get firstBehind(): T | undefined {
    return this.#behind?.top;
  }

  get delayed(): readonly T[] {
    return this.#delayed?.items ?? [];
  }

  changeDue(entry: T, dueMs: number): void {
    this.#take(entry);
    entry.dueMs = dueMs;
    this.#put(entry, entry.place);
  }

  #put(entry: T, place: Place): void {
    entry.place = place;
    if (place === 'claimed') (this.#claimed ??= new Set()).add(entry);
    else this.#heapOf(place).push(entry);
  }

  #take(entry: T): void {
    const { place } = entry;
    if (place === 'claimed') this.#claimed?.delete(entry);
    else this.#heapOf(place).remove(entry);
  }

  #heapOf(place: Exclude<Place, 'claimed'>): MinHeap<T> {
    switch (place) {
      case 'ready':
        return this.ready;
      case 'delayed':
        return (this.#delayed ??= new MinHeap<T>(isDueBefore));
      case 'stranded':
        return (this.#stranded ??= new MinHeap<T>(isDueBefore));
      case 'behind':
        return (this.#behind ??= new MinHeap<T>(isOlder));
    }
  }

  #addTurn(entry: T): void {
    if (this.#turns === undefined) return;
    const slot = new HeapSlot(entry);
    this.#turns.slots.set(entry, slot);
    this.#turns.heap.push(slot);
  }
}

export function isDueBefore<T extends QueuedEntry>(a: T, b: T): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

function isOlder<T extends QueuedEntry>(a: T, b: T): boolean {
  return a.order < b.order;
}
