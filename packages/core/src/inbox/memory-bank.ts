import {
  storedBytes,
  type ClaimedDelivery,
  type ClaimOptions,
  type ClaimRef,
  type DeliveryRef,
  type Put,
  type PutResult,
  type Settlement,
  type StoredDelivery,
  type StoreLimits,
  type StoreStats,
} from './inbox-store.ts';
import { MemoryLines, type Lined } from './memory-lines.ts';
import { MemoryShelf, type Selection, type Shelved } from './memory-shelf.ts';

/** An unfinished delivery. */
interface Entry extends Lined {
  readonly delivery: StoredDelivery;
  readonly bytes: number;
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
  readonly #lines = new MemoryLines<Entry>();
  readonly #claimed = new Set<Entry>();
  readonly #unfinished = new Set<Entry>();
  #bytes = 0;
  #puts = 0;

  open(nowMs: number, isOrdered: boolean | undefined): StoreStats {
    const early = [...this.#unfinished].filter((entry) => entry.attempts === 0 && entry.owner === null);
    for (const entry of early) entry.dueMs = Math.min(entry.dueMs, nowMs);
    if (isOrdered !== undefined) {
      const unclaimed = [...this.#unfinished].filter(({ owner }) => owner === null);
      this.#lines.setOrdered(isOrdered, unclaimed, this.#claimed, nowMs);
    }
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
        this.shelf.add({
          ...{ delivery, bytes, order: this.#nextOrder(), attempts: 0 },
          ...{ reason: 'overflow', error: '', shelvedAtMs: nowMs },
        }),
      );
    } else {
      this.#add(delivery, bytes, this.#nextOrder(), nowMs);
    }
    return 'stored';
  }

  claim(count: number, owner: object, options: ClaimOptions): ClaimedDelivery[] {
    const { leaseMs, nowMs } = options;
    if (this.#lines.isPaused) return [];
    this.#takeBack(owner, nowMs);
    return this.#lines.take(count, options).map((entry) => {
      entry.attempts += 1;
      entry.owner = owner;
      entry.leaseEndsMs = nowMs + leaseMs;
      this.#claimed.add(entry);
      // As a store that reads them anew: what a handler writes into its bytes must not reach the next attempt.
      const rawBody = new Uint8Array(entry.delivery.rawBody);
      return { ...entry.delivery, rawBody, attempt: entry.attempts, strandings: entry.strandings };
    });
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
        this.#lines.delay(entry);
        break;
      case 'released':
        entry.attempts -= 1;
        entry.dueMs = settlement.retryAtMs ?? Math.min(entry.dueMs, nowMs);
        if (settlement.retryAtMs === undefined) this.#lines.toFront(entry);
        else this.#lines.delay(entry);
        break;
      case 'dead': {
        this.#drop(entry, nowMs);
        const { attempts, order } = entry;
        const { error } = settlement;
        this.#remember(
          delivery,
          this.shelf.add({ delivery, bytes, order, attempts, reason: 'dead', error, shelvedAtMs: nowMs }),
        );
        break;
      }
      case 'completed':
        this.#drop(entry, nowMs);
        if (delivery.isIdGenerated) break;
        this.#remember(delivery, 'completed');
        this.#completed.add({ ref: { key: delivery.key, id: delivery.id }, atMs: nowMs });
    }
  }

  nextDueMs(owner: object, except: ReadonlySet<string>): number | undefined {
    let next = this.#lines.nextDueMs(except);
    for (const entry of this.#lines.isPaused ? [] : this.#claimed) {
      if (entry.owner !== owner) next = Math.min(next, entry.leaseEndsMs);
    }
    return next === Infinity ? undefined : next;
  }

  pause(key: string | null): boolean {
    return this.#lines.pause(key);
  }

  resume(key: string | null): boolean {
    return this.#lines.resume(key);
  }

  redrive(which: Selection, nowMs: number): DeliveryRef[] {
    return this.shelf.take(which).map(({ delivery, bytes, order }) => {
      this.#add(delivery, bytes, this.#lines.isOrdered ? order : this.#nextOrder(), nowMs);
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
    return this.#lines.hasten({ afterMs, nowMs, limit });
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
      isPaused: this.#lines.isPaused,
      pausedKeys: [...this.#lines.pausedKeys],
    };
  }

  /** Takes back what others have claimed and not renewed. */
  #takeBack(owner: object, nowMs: number): void {
    for (const entry of [...this.#claimed]) {
      if (entry.owner === owner || entry.leaseEndsMs > nowMs) continue;
      this.#claimed.delete(entry);
      entry.owner = null;
      entry.strandings += 1;
      this.#lines.toFront(entry);
    }
  }

  #nextOrder(): number {
    this.#puts += 1;
    return this.#puts;
  }

  #add(delivery: StoredDelivery, bytes: number, order: number, nowMs: number): void {
    const entry: Entry = {
      delivery,
      bytes,
      key: delivery.key,
      order,
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
    this.#lines.add(entry);
  }

  #drop(entry: Entry, nowMs: number): void {
    this.#lines.leave(entry, nowMs);
    this.#unfinished.delete(entry);
    this.#bytes -= entry.bytes;
    this.#forget(entry.delivery);
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
