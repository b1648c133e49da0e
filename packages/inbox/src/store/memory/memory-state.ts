import { MinHeap } from '@webhook-backpressure/base';
import { areOtherBodies, bodySum } from '../../delivery/body-sum.ts';
import { storedBytes } from '../../delivery/stored-bytes.ts';
import type { DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';
import type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DueKey,
  DueKeys,
  KeyClaim,
  KeyWant,
  Settlement,
  StoreStats,
} from '../inbox-store.ts';
import type { Put, PutResult, StoreLimits } from '../receiving-store.ts';
import { MemoryClaims } from './memory-claims.ts';
import { MemoryCompleted, type CompletedEntry } from './memory-completed.ts';
import { MemoryDeadLetters, type DeadLetterEntry } from './memory-dead-letters.ts';
import type { HeapSlot } from './key-line.ts';
import { PendingEntry } from './memory-pending.ts';
import { MemoryQueue } from './memory-queue.ts';

/** The deliveries that one or more memory stores share. Only `open` visits all of them. */
export class MemoryState {
  readonly deadLetters: MemoryDeadLetters = new MemoryDeadLetters();
  readonly completed: MemoryCompleted = new MemoryCompleted();
  /** Unfinished deliveries in the order of storing; redriven ones are at the end. */
  readonly unfinished: Set<PendingEntry> = new Set<PendingEntry>();
  /** By key, then by id. */
  readonly #known = new Map<string, Map<string, PendingEntry | DeadLetterEntry | CompletedEntry>>();
  readonly #queue = new MemoryQueue<PendingEntry>();
  readonly #ages = new MinHeap<HeapSlot<PendingEntry>>(
    (a, b) => a.of.delivery.receivedAtMs < b.of.delivery.receivedAtMs,
  );
  readonly #claims = new MemoryClaims();
  readonly #depths = new Map<string, number>();
  #bytes = 0;
  #puts = 0;
  #drained = 0;

  open(nowMs: number, isOrdered: boolean | undefined): StoreStats {
    this.#queue.makeUntriedDue(this.unfinished, nowMs);
    if (isOrdered !== undefined) this.#queue.setOrdered(isOrdered, this.unfinished, nowMs);
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
      if (this.deadLetters.size >= maxShelved || this.deadLetters.bytes + bytes > maxShelvedBytes)
        return 'full';
      this.#puts += 1;
      this.#addDeadLetter({
        ...{ delivery, bytes, order: this.#puts, attempts: 0 },
        ...{ reason: 'overflow', error: '', shelvedAtMs: nowMs },
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
    if (this.#queue.isPaused) return [];
    this.#strandExpired(owner, nowMs);
    return this.#queue.take(count, options).map((entry) => this.#begin(entry, owner, nowMs + leaseMs));
  }

  claimKeys(
    wants: readonly KeyWant[],
    owner: object,
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): KeyClaim[] {
    if (!this.#queue.isPaused) this.#strandExpired(owner, nowMs);
    return wants.map((want) => {
      const taken = this.#queue.takeOf(want, nowMs);
      const claimed = taken.map((entry) => this.#begin(entry, owner, nowMs + leaseMs));
      return { key: want.key, claimed, nextDueMs: this.#nextDueOf(want.key, want.isHeadOnly, owner) };
    });
  }

  dueKeys(
    owner: object,
    {
      after,
      limit,
      dueByMs,
    }: { readonly after: string | undefined; readonly limit: number; readonly dueByMs: number },
  ): DueKeys {
    const keys: DueKey[] = [];
    let last = Number(after ?? 0);
    for (const [key, number] of this.#queue.keysAfter(last)) {
      if (keys.length >= limit) return { keys, next: String(last) };
      last = number;
      const nextDueMs = this.#nextDueOf(key, false, owner);
      if (nextDueMs !== undefined && nextDueMs <= dueByMs) keys.push({ key, nextDueMs });
    }
    return { keys, next: undefined };
  }

  /** The entry of a claim that this owner still holds. */
  claimed({ key, id, attempt }: ClaimRef, owner: object): PendingEntry | undefined {
    const entry = this.unfinishedOf({ key, id });
    return entry?.owner === owner && entry.attempts === attempt ? entry : undefined;
  }

  renew(entry: PendingEntry, leaseEndsMs: number): void {
    this.#claims.renew(entry, leaseEndsMs);
  }

  settle(entry: PendingEntry, settlement: Settlement, nowMs: number): void {
    this.#claims.end(entry);
    const { delivery, bytes, attempts, order } = entry;
    switch (settlement.as) {
      case 'failed':
        if (settlement.isRepeated === true) entry.attempts -= 1;
        entry.dueMs = settlement.retryAtMs;
        entry.isRetry = true;
        this.#queue.delay(entry);
        break;
      case 'released':
        entry.attempts -= 1;
        entry.dueMs = settlement.retryAtMs ?? Math.min(entry.dueMs, nowMs);
        entry.isRetry = settlement.retryAtMs !== undefined;
        if (entry.isRetry) this.#queue.delay(entry);
        else this.#queue.makeDue(entry);
        break;
      case 'dead': {
        this.#remove(entry, nowMs);
        const { error } = settlement;
        this.#addDeadLetter({ delivery, bytes, order, attempts, reason: 'dead', error, shelvedAtMs: nowMs });
        break;
      }
      case 'completed': {
        this.#remove(entry, nowMs);
        const { keep } = settlement;
        const done = this.completed.add(delivery, { bytes, attempts, putOrder: order, keep, nowMs });
        if (done !== undefined) this.#remember(delivery, done);
      }
    }
  }

  nextDueMs(owner: object, except: ReadonlySet<string>): number | undefined {
    const expiryMs = this.#queue.isPaused ? Infinity : this.#claims.nextExpiryMs(owner);
    const next = Math.min(this.#queue.nextDueMs(except), expiryMs);
    return next === Infinity ? undefined : next;
  }

  pause(key: string | null): boolean {
    return this.#queue.pause(key);
  }

  resume(key: string | null): boolean {
    return this.#queue.resume(key);
  }

  hasten(which: Parameters<MemoryQueue<PendingEntry>['hasten']>[0]): number {
    return this.#queue.hasten(which);
  }

  releaseAll(owner: object, nowMs: number): void {
    for (let entry = this.#claims.first(owner); entry !== undefined; entry = this.#claims.first(owner)) {
      const { key, id } = entry.delivery;
      this.settle(entry, { key, id, attempt: entry.attempts, as: 'released' }, nowMs);
    }
    this.#claims.removeOwner(owner);
  }

  stats(): StoreStats {
    return {
      depth: this.unfinished.size,
      inFlight: this.#claims.count,
      bytes: this.#bytes,
      drained: this.#drained,
      shelved: this.deadLetters.size,
      shelvedBytes: this.deadLetters.bytes,
      remembered: this.completed.remembered,
      kept: this.completed.kept,
      keptBytes: this.completed.bytes,
      oldestReceivedAtMs: this.#ages.top?.of.delivery.receivedAtMs,
      isPaused: this.#queue.isPaused,
      pausedKeys: [...this.#queue.pausedKeys],
    };
  }

  known({ key, id }: DeliveryRef): PendingEntry | DeadLetterEntry | CompletedEntry | undefined {
    return this.#known.get(key)?.get(id);
  }

  unfinishedOf(ref: DeliveryRef): PendingEntry | undefined {
    const known = this.known(ref);
    return known instanceof PendingEntry ? known : undefined;
  }

  /** Adds an unfinished delivery that is due. */
  add(
    delivery: StoredDelivery,
    { bytes, order, nowMs }: { readonly bytes: number; readonly order: number; readonly nowMs: number },
  ): void {
    const entry = new PendingEntry(delivery, bytes, order, nowMs);
    const { key } = delivery;
    this.#remember(delivery, entry);
    this.unfinished.add(entry);
    this.#ages.push(entry.age);
    this.#depths.set(key, (this.#depths.get(key) ?? 0) + 1);
    this.#bytes += bytes;
    this.#queue.add(entry);
  }

  forget({ key, id }: DeliveryRef): void {
    const byId = this.#known.get(key);
    byId?.delete(id);
    if (byId?.size === 0) this.#known.delete(key);
  }

  #strandExpired(owner: object, nowMs: number): void {
    for (const entry of this.#claims.endExpired(owner, nowMs)) {
      entry.strandings += 1;
      this.#queue.makeDue(entry);
    }
  }

  #begin(entry: PendingEntry, owner: object, leaseEndsMs: number): ClaimedDelivery {
    entry.attempts += 1;
    this.#claims.begin(entry, owner, leaseEndsMs);
    const { delivery, attempts, strandings } = entry;
    // A copy: bytes that a handler overwrites must not reach the next attempt.
    const rawBody = new Uint8Array(delivery.rawBody);
    return { ...delivery, rawBody, attempt: attempts, strandings };
  }

  #nextDueOf(key: string, isHeadOnly: boolean, owner: object): number | undefined {
    let next = this.#queue.nextDueOf(key, isHeadOnly);
    if (this.#claims.hasOthers(owner)) {
      for (const entry of this.#queue.claimedOf(key))
        if (entry.owner !== owner) next = Math.min(next, entry.leaseEndsMs);
    }
    return next === Infinity ? undefined : next;
  }

  #remove(entry: PendingEntry, nowMs: number): void {
    this.#drained += 1;
    const { key } = entry;
    const depth = (this.#depths.get(key) ?? 0) - 1;
    if (depth > 0) this.#depths.set(key, depth);
    else this.#depths.delete(key);
    this.#queue.finish(entry, nowMs);
    this.unfinished.delete(entry);
    this.#ages.remove(entry.age);
    this.#bytes -= entry.bytes;
    this.forget(entry.delivery);
  }

  #addDeadLetter(entry: DeadLetterEntry): void {
    this.#remember(entry.delivery, this.deadLetters.add(entry));
  }

  #remember({ key, id }: DeliveryRef, entry: PendingEntry | DeadLetterEntry | CompletedEntry): void {
    let byId = this.#known.get(key);
    if (byId === undefined) {
      byId = new Map();
      this.#known.set(key, byId);
    }
    byId.set(id, entry);
  }
}

function sumOf(known: PendingEntry | DeadLetterEntry | CompletedEntry): number {
  return 'sum' in known ? known.sum : bodySum(known.delivery);
}
