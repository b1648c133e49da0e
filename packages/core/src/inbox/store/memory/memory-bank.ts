import { MinHeap } from '../../../base/min-heap.ts';
import { areOtherBodies, bodySum } from '../../delivery/body-sum.ts';
import {
  storedBytes,
  type ClaimedDelivery,
  type ClaimOptions,
  type ClaimRef,
  type Put,
  type PutResult,
  type Settlement,
  type StoreLimits,
  type StoreStats,
} from '../inbox-store.ts';
import { MemoryDone, type Done } from './memory-done.ts';
import { Entry, type Slot } from './memory-entry.ts';
import { MemoryLines } from './memory-lines.ts';
import { MemoryShelf, type Shelved } from './memory-shelf.ts';
import type { DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';

/** The deliveries themselves, which several owners may share. No call but the first looks at all of them. */
export class MemoryBank {
  readonly shelf: MemoryShelf = new MemoryShelf();
  readonly done: MemoryDone = new MemoryDone();
  /** What is unfinished, in the order in which it was put, but for what was put back. */
  readonly unfinished: Set<Entry> = new Set<Entry>();
  /** By key, and then by id: whatever is known about the delivery of that id. */
  readonly #known = new Map<string, Map<string, Entry | Shelved | Done>>();
  readonly #lines = new MemoryLines<Entry>();
  readonly #ages = new MinHeap<Slot<Entry>>(
    (a, b) => a.of.delivery.receivedAtMs < b.of.delivery.receivedAtMs,
  );
  /** What each owner has claimed, the one whose lease ends first in front. */
  readonly #claimed = new Map<object, MinHeap<Slot<Entry>>>();
  readonly #depths = new Map<string, number>();
  #inFlight = 0;
  #bytes = 0;
  #puts = 0;

  open(nowMs: number, isOrdered: boolean | undefined): StoreStats {
    const early = [...this.unfinished].filter(({ attempts, owner }) => attempts === 0 && owner === null);
    for (const entry of early) entry.dueMs = Math.min(entry.dueMs, nowMs);
    if (isOrdered !== undefined) {
      const claimed = [...this.unfinished].filter(({ owner }) => owner !== null);
      const unclaimed = [...this.unfinished].filter(({ owner }) => owner === null);
      this.#lines.setOrdered(isOrdered, unclaimed, claimed, nowMs);
    }
    return this.stats();
  }

  depthByKey(): Map<string, number> {
    return new Map(this.#depths);
  }

  put({ delivery, isOverflow }: Put, limits: StoreLimits, nowMs: number): PutResult {
    const known = this.known(delivery);
    if (known !== undefined)
      return areOtherBodies(sumOf(known), bodySum(delivery)) ? 'conflict' : 'duplicate';
    const bytes = storedBytes(delivery);
    if (isOverflow) {
      const { maxShelved, maxShelvedBytes } = limits;
      if (this.shelf.size >= maxShelved || this.shelf.bytes + bytes > maxShelvedBytes) return 'full';
      this.#puts += 1;
      const order = this.#puts;
      this.#shelve({
        delivery,
        bytes,
        order,
        attempts: 0,
        reason: 'overflow',
        error: '',
        shelvedAtMs: nowMs,
      });
    } else {
      const { capacity, maxBytes } = limits;
      if (this.unfinished.size >= capacity || this.#bytes + bytes > maxBytes) return 'full';
      this.#puts += 1;
      this.add(delivery, { bytes, order: this.#puts, nowMs });
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
      this.#claimsOf(owner).push(entry.claim);
      this.#inFlight += 1;
      const { delivery, attempts, strandings } = entry;
      // As a store that reads them anew: what a handler writes into its bytes must not reach the next attempt.
      const rawBody = new Uint8Array(delivery.rawBody);
      return { ...delivery, rawBody, attempt: attempts, strandings };
    });
  }

  /** The claim as this owner still holds it. */
  claimed({ key, id, attempt }: ClaimRef, owner: object): Entry | undefined {
    const entry = this.unfinishedOf({ key, id });
    return entry?.owner === owner && entry.attempts === attempt ? entry : undefined;
  }

  renew(entry: Entry, leaseEndsMs: number): void {
    const claims = this.#claimsOf(entry.owner as object);
    claims.remove(entry.claim);
    entry.leaseEndsMs = leaseEndsMs;
    claims.push(entry.claim);
  }

  settle(entry: Entry, settlement: Settlement, nowMs: number): void {
    this.#endClaim(entry);
    const { delivery, bytes, attempts, order } = entry;
    switch (settlement.as) {
      case 'failed':
        if (settlement.isRepeated === true) entry.attempts -= 1;
        entry.dueMs = settlement.retryAtMs;
        entry.isRetry = true;
        this.#lines.delay(entry);
        break;
      case 'released':
        entry.attempts -= 1;
        entry.dueMs = settlement.retryAtMs ?? Math.min(entry.dueMs, nowMs);
        entry.isRetry = settlement.retryAtMs !== undefined;
        if (entry.isRetry) this.#lines.delay(entry);
        else this.#lines.toFront(entry);
        break;
      case 'dead': {
        this.#drop(entry, nowMs);
        const { error } = settlement;
        this.#shelve({ delivery, bytes, order, attempts, reason: 'dead', error, shelvedAtMs: nowMs });
        break;
      }
      case 'completed': {
        this.#drop(entry, nowMs);
        const done = this.done.add(delivery, {
          bytes,
          attempts,
          putOrder: order,
          keep: settlement.keep,
          nowMs,
        });
        if (done !== undefined) this.#remember(delivery, done);
      }
    }
  }

  nextDueMs(owner: object, except: ReadonlySet<string>): number | undefined {
    let next = this.#lines.nextDueMs(except);
    for (const [other, claims] of this.#lines.isPaused ? [] : this.#claimed) {
      if (other !== owner) next = Math.min(next, claims.top?.of.leaseEndsMs ?? Infinity);
    }
    return next === Infinity ? undefined : next;
  }

  pause(key: string | null): boolean {
    return this.#lines.pause(key);
  }

  resume(key: string | null): boolean {
    return this.#lines.resume(key);
  }

  hasten(which: { afterMs: number; nowMs: number; limit: number }): number {
    return this.#lines.hasten(which);
  }

  releaseAll(owner: object, nowMs: number): void {
    const claims = this.#claimsOf(owner);
    for (let top = claims.top?.of; top !== undefined; top = claims.top?.of) {
      const { key, id } = top.delivery;
      this.settle(top, { key, id, attempt: top.attempts, as: 'released' }, nowMs);
    }
    this.#claimed.delete(owner);
  }

  stats(): StoreStats {
    return {
      depth: this.unfinished.size,
      inFlight: this.#inFlight,
      bytes: this.#bytes,
      shelved: this.shelf.size,
      shelvedBytes: this.shelf.bytes,
      remembered: this.done.remembered,
      kept: this.done.kept,
      keptBytes: this.done.bytes,
      oldestReceivedAtMs: this.#ages.top?.of.delivery.receivedAtMs,
      isPaused: this.#lines.isPaused,
      pausedKeys: [...this.#lines.pausedKeys],
    };
  }

  known({ key, id }: DeliveryRef): Entry | Shelved | Done | undefined {
    return this.#known.get(key)?.get(id);
  }

  unfinishedOf(ref: DeliveryRef): Entry | undefined {
    const known = this.known(ref);
    return known instanceof Entry ? known : undefined;
  }

  /** Among the unfinished, due. */
  add(
    delivery: StoredDelivery,
    { bytes, order, nowMs }: { readonly bytes: number; readonly order: number; readonly nowMs: number },
  ): void {
    const entry = new Entry(delivery, bytes, order, nowMs);
    const { key } = delivery;
    this.#remember(delivery, entry);
    this.unfinished.add(entry);
    this.#ages.push(entry.age);
    this.#depths.set(key, (this.#depths.get(key) ?? 0) + 1);
    this.#bytes += bytes;
    this.#lines.add(entry);
  }

  forget({ key, id }: DeliveryRef): void {
    const byId = this.#known.get(key);
    byId?.delete(id);
    if (byId?.size === 0) this.#known.delete(key);
  }

  /** Takes back what others have claimed and not renewed. */
  #takeBack(owner: object, nowMs: number): void {
    for (const [other, claims] of this.#claimed) {
      if (other === owner) continue;
      for (let top = claims.top?.of; top !== undefined && top.leaseEndsMs <= nowMs; top = claims.top?.of) {
        this.#endClaim(top);
        top.strandings += 1;
        this.#lines.toFront(top);
      }
    }
  }

  #claimsOf(owner: object): MinHeap<Slot<Entry>> {
    let claims = this.#claimed.get(owner);
    if (claims === undefined) {
      claims = new MinHeap((a, b) => a.of.leaseEndsMs < b.of.leaseEndsMs);
      this.#claimed.set(owner, claims);
    }
    return claims;
  }

  #endClaim(entry: Entry): void {
    this.#claimsOf(entry.owner as object).remove(entry.claim);
    entry.owner = null;
    this.#inFlight -= 1;
  }

  #drop(entry: Entry, nowMs: number): void {
    const { key } = entry;
    const depth = (this.#depths.get(key) ?? 0) - 1;
    if (depth > 0) this.#depths.set(key, depth);
    else this.#depths.delete(key);
    this.#lines.leave(entry, nowMs);
    this.unfinished.delete(entry);
    this.#ages.remove(entry.age);
    this.#bytes -= entry.bytes;
    this.forget(entry.delivery);
  }

  #shelve(shelved: Shelved): void {
    this.#remember(shelved.delivery, this.shelf.add(shelved));
  }

  #remember({ key, id }: DeliveryRef, what: Entry | Shelved | Done): void {
    let byId = this.#known.get(key);
    if (byId === undefined) {
      byId = new Map();
      this.#known.set(key, byId);
    }
    byId.set(id, what);
  }
}

function sumOf(known: Entry | Shelved | Done): number {
  return 'sum' in known ? known.sum : bodySum(known.delivery);
}
