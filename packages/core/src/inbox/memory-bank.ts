import { MinHeap, type Heaped } from '../min-heap.ts';
import {
  storedBytes,
  type ClaimedDelivery,
  type ClaimRef,
  type DeliveryRef,
  type Put,
  type PutResult,
  type Settlement,
  type StoredDelivery,
  type StoreLimits,
  type StoreStats,
} from './inbox-store.ts';
import { MemoryShelf, type Selection, type Shelved } from './memory-shelf.ts';

/** An unfinished delivery. */
interface Entry extends Heaped {
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** In which it was put. */
  readonly order: number;
  attempts: number;
  strandings: number;
  dueMs: number;
  owner: object | null;
  leaseEndsMs: number;
}

/** The deliveries themselves, which several owners may share. */
export class MemoryBank {
  readonly shelf: MemoryShelf = new MemoryShelf();
  /** By key, and then by id: whatever is known about the delivery of that id. */
  readonly #known = new Map<string, Map<string, Entry | Shelved | 'completed'>>();
  /** Ids that were completed, in the order of their completion. */
  readonly #completed = new Set<{ readonly ref: DeliveryRef; readonly atMs: number }>();
  /** Due, without strandings: the keys in turn. */
  readonly #ready = new Map<string, MinHeap<Entry>>();
  readonly #stranded = new MinHeap<Entry>(isBefore);
  readonly #delayed = new MinHeap<Entry>(isBefore);
  readonly #claimed = new Set<Entry>();
  readonly #unfinished = new Set<Entry>();
  #bytes = 0;
  #puts = 0;

  open(nowMs: number): StoreStats {
    const early = [...this.#unfinished].filter((entry) => entry.attempts === 0 && entry.owner === null);
    for (const entry of early) entry.dueMs = Math.min(entry.dueMs, nowMs);
    return this.stats();
  }

  depthByKey(): Map<string, number> {
    const depths = new Map<string, number>();
    for (const { delivery } of this.#unfinished)
      depths.set(delivery.key, (depths.get(delivery.key) ?? 0) + 1);
    return depths;
  }

  put({ delivery, isOverflow }: Put, { capacity, maxBytes }: StoreLimits, nowMs: number): PutResult {
    if (this.#known.get(delivery.key)?.has(delivery.id) === true) return 'duplicate';
    const bytes = storedBytes(delivery);
    const [count, used] = isOverflow
      ? [this.shelf.size, this.shelf.bytes]
      : [this.#unfinished.size, this.#bytes];
    if (count >= capacity || used + bytes > maxBytes) return 'full';
    if (isOverflow) {
      this.#remember(
        delivery,
        this.shelf.add({ delivery, bytes, attempts: 0, reason: 'overflow', error: '', shelvedAtMs: nowMs }),
      );
    } else {
      this.#add(delivery, bytes, nowMs);
    }
    return 'stored';
  }

  claim(
    count: number,
    owner: object,
    options: { readonly leaseMs: number; readonly nowMs: number; readonly isStrandedAllowed: boolean },
  ): ClaimedDelivery[] {
    const { leaseMs, nowMs, isStrandedAllowed } = options;
    this.#takeBack(owner, nowMs);
    for (let top = this.#delayed.top; top !== undefined && top.dueMs <= nowMs; top = this.#delayed.top) {
      this.#delayed.pop();
      this.#line(top);
    }
    const claims: ClaimedDelivery[] = [];
    const take = (entry: Entry | undefined): void => {
      if (entry === undefined) return;
      entry.attempts += 1;
      entry.owner = owner;
      entry.leaseEndsMs = nowMs + leaseMs;
      this.#claimed.add(entry);
      // As a store that reads them anew: what a handler writes into its bytes must not reach the next attempt.
      const rawBody = new Uint8Array(entry.delivery.rawBody);
      claims.push({
        ...entry.delivery,
        rawBody,
        attempt: entry.attempts,
        strandings: entry.strandings,
      });
    };
    if (isStrandedAllowed && count > 0) take(this.#stranded.pop());
    for (const [key, entries] of this.#ready) {
      if (claims.length >= count) break;
      take(entries.pop());
      // To the end of the turn; the loop comes by again there.
      this.#ready.delete(key);
      if (entries.size > 0) this.#ready.set(key, entries);
    }
    return claims;
  }

  /** The claim as this owner still holds it. */
  claimed({ key, id, attempt }: ClaimRef, owner: object): Entry | undefined {
    const entry = this.#known.get(key)?.get(id);
    if (typeof entry !== 'object' || !('owner' in entry)) return undefined;
    return entry.owner === owner && entry.attempts === attempt ? entry : undefined;
  }

  settle(entry: Entry, settlement: Settlement, nowMs: number): void {
    this.#claimed.delete(entry);
    entry.owner = null;
    const { delivery, bytes } = entry;
    switch (settlement.as) {
      case 'failed':
        entry.dueMs = settlement.retryAtMs;
        this.#delayed.push(entry);
        break;
      case 'released':
        entry.attempts -= 1;
        entry.dueMs = Math.min(entry.dueMs, nowMs);
        this.#line(entry);
        break;
      case 'dead': {
        this.#drop(entry);
        const { attempts } = entry;
        const { error } = settlement;
        this.#remember(
          delivery,
          this.shelf.add({ delivery, bytes, attempts, reason: 'dead', error, shelvedAtMs: nowMs }),
        );
        break;
      }
      case 'completed':
        this.#drop(entry);
        if (delivery.isIdGenerated) break;
        this.#remember(delivery, 'completed');
        this.#completed.add({ ref: { key: delivery.key, id: delivery.id }, atMs: nowMs });
    }
  }

  nextDueMs(owner: object): number | undefined {
    let next = Math.min(this.#delayed.top?.dueMs ?? Infinity, this.#stranded.top?.dueMs ?? Infinity);
    for (const entries of this.#ready.values()) next = Math.min(next, entries.top?.dueMs ?? Infinity);
    for (const entry of this.#claimed) {
      if (entry.owner !== owner) next = Math.min(next, entry.leaseEndsMs);
    }
    return next === Infinity ? undefined : next;
  }

  redrive(which: Selection, nowMs: number): DeliveryRef[] {
    return this.shelf.take(which).map(({ delivery, bytes }) => {
      this.#add(delivery, bytes, nowMs);
      return { key: delivery.key, id: delivery.id };
    });
  }

  purge(which: Selection): number {
    const taken = this.shelf.take(which);
    for (const { delivery } of taken) this.#forget(delivery);
    return taken.length;
  }

  forget({ beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number }): number {
    let forgotten = 0;
    for (const one of this.#completed) {
      if (forgotten >= limit || (one.atMs >= beforeMs && this.#completed.size <= keep)) break;
      this.#completed.delete(one);
      this.#forget(one.ref);
      forgotten += 1;
    }
    return forgotten;
  }

  hasten({ afterMs, nowMs, limit }: { afterMs: number; nowMs: number; limit: number }): number {
    const isLate = ({ owner, dueMs }: Entry): boolean => owner === null && dueMs > afterMs;
    if (![...this.#unfinished].some(isLate)) return 0;
    const waiting: Entry[] = [];
    for (let top = this.#delayed.pop(); top !== undefined; top = this.#delayed.pop()) waiting.push(top);
    const late = waiting.filter(isLate).slice(0, limit);
    for (const entry of late) entry.dueMs = nowMs;
    for (const entry of waiting) this.#delayed.push(entry);
    return late.length;
  }

  releaseAll(owner: object, nowMs: number): void {
    for (const entry of [...this.#claimed]) {
      const { key, id } = entry.delivery;
      if (entry.owner === owner)
        this.settle(entry, { key, id, attempt: entry.attempts, as: 'released' }, nowMs);
    }
  }

  stats(): StoreStats {
    // Neither the order of puts nor that of due times tells: what comes back from the shelf is older than both.
    let oldest: number | undefined;
    for (const { delivery } of this.#unfinished) oldest = Math.min(oldest ?? Infinity, delivery.receivedAtMs);
    return {
      depth: this.#unfinished.size,
      inFlight: this.#claimed.size,
      bytes: this.#bytes,
      shelved: this.shelf.size,
      shelvedBytes: this.shelf.bytes,
      remembered: this.#completed.size,
      oldestReceivedAtMs: oldest,
    };
  }

  /** Takes back what others have claimed and not renewed. */
  #takeBack(owner: object, nowMs: number): void {
    for (const entry of [...this.#claimed]) {
      if (entry.owner === owner || entry.leaseEndsMs > nowMs) continue;
      this.#claimed.delete(entry);
      entry.owner = null;
      entry.strandings += 1;
      this.#line(entry);
    }
  }

  #add(delivery: StoredDelivery, bytes: number, nowMs: number): void {
    this.#puts += 1;
    const entry: Entry = {
      delivery,
      bytes,
      order: this.#puts,
      attempts: 0,
      strandings: 0,
      dueMs: nowMs,
      owner: null,
      leaseEndsMs: 0,
      heapIndex: 0,
    };
    this.#remember(delivery, entry);
    this.#unfinished.add(entry);
    this.#bytes += bytes;
    this.#delayed.push(entry);
  }

  #drop(entry: Entry): void {
    this.#unfinished.delete(entry);
    this.#bytes -= entry.bytes;
    this.#forget(entry.delivery);
  }

  /** Into the line of what is due. */
  #line(entry: Entry): void {
    if (entry.strandings > 0) {
      this.#stranded.push(entry);
      return;
    }
    const { key } = entry.delivery;
    let entries = this.#ready.get(key);
    if (entries === undefined) {
      entries = new MinHeap(isBefore);
      this.#ready.set(key, entries);
    }
    entries.push(entry);
  }

  #remember({ key, id }: DeliveryRef, what: Entry | Shelved | 'completed'): void {
    let byId = this.#known.get(key);
    if (byId === undefined) {
      byId = new Map();
      this.#known.set(key, byId);
    }
    byId.set(id, what);
  }

  #forget({ key, id }: DeliveryRef): void {
    const byId = this.#known.get(key);
    byId?.delete(id);
    if (byId?.size === 0) this.#known.delete(key);
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
