import { MinHeap } from '@webhook-backpressure/base';
import type { HeapSlot } from './key-line.ts';
import type { PendingEntry } from './memory-pending.ts';

/** The claims of each owner of a memory store, the one whose lease ends first at the front. */
export class MemoryClaims {
  readonly #byOwner = new Map<object, MinHeap<HeapSlot<PendingEntry>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  begin(entry: PendingEntry, owner: object, leaseEndsMs: number): void {
    entry.owner = owner;
    entry.leaseEndsMs = leaseEndsMs;
    this.#of(owner).push(entry.claim);
    this.#count += 1;
  }

  renew(entry: PendingEntry, leaseEndsMs: number): void {
    const claims = this.#of(entry.owner as object);
    claims.remove(entry.claim);
    entry.leaseEndsMs = leaseEndsMs;
    claims.push(entry.claim);
  }

  end(entry: PendingEntry): void {
    this.#of(entry.owner as object).remove(entry.claim);
    entry.owner = null;
    this.#count -= 1;
  }

  /** The claim of this owner whose lease ends first. */
  first(owner: object): PendingEntry | undefined {
    return this.#byOwner.get(owner)?.top?.of;
  }

  /** Ends the claims of other owners whose lease has run out. */
  endExpired(owner: object, nowMs: number): PendingEntry[] {
    const ended: PendingEntry[] = [];
    for (const [other, claims] of this.#byOwner) {
      if (other === owner) continue;
      for (let top = claims.top?.of; top !== undefined && top.leaseEndsMs <= nowMs; top = claims.top?.of) {
        this.end(top);
        ended.push(top);
      }
    }
    return ended;
  }

  /** Whether another owner has claimed something. */
  hasOthers(owner: object): boolean {
    for (const [other, claims] of this.#byOwner) if (other !== owner && claims.size > 0) return true;
    return false;
  }

  /** When the next lease of another owner runs out; Infinity for never. */
  nextExpiryMs(owner: object): number {
    let next = Infinity;
    for (const [other, claims] of this.#byOwner) {
      if (other !== owner) next = Math.min(next, claims.top?.of.leaseEndsMs ?? Infinity);
    }
    return next;
  }

  removeOwner(owner: object): void {
    this.#byOwner.delete(owner);
  }

  #of(owner: object): MinHeap<HeapSlot<PendingEntry>> {
    let claims = this.#byOwner.get(owner);
    if (claims === undefined) {
      claims = new MinHeap((a, b) => a.of.leaseEndsMs < b.of.leaseEndsMs);
      this.#byOwner.set(owner, claims);
    }
    return claims;
  }
}
