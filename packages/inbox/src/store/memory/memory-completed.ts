import { bodySum } from '../../delivery/body-sum.ts';
import type { Portion, StoredCompleted } from '../store-admin.ts';
import type { DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';

/** A completed delivery: its id is remembered, or the delivery is kept, or both. */
export interface CompletedEntry {
  readonly ref: DeliveryRef;
  /** Position in the order of completion. */
  readonly order: number;
  /** Position in the order of storing. */
  readonly putOrder: number;
  readonly completedAtMs: number;
  readonly sum: number;
  /** Defined while the delivery is kept. */
  delivery: StoredDelivery | undefined;
  readonly bytes: number;
  readonly attempts: number;
}

/** The completed deliveries of a memory store, in the order of completion. */
export class MemoryCompleted {
  bytes = 0;
  readonly #remembered = new Set<CompletedEntry>();
  readonly #kept = new Set<CompletedEntry>();
  #order = 0;

  get remembered(): number {
    return this.#remembered.size;
  }

  get kept(): number {
    return this.#kept.size;
  }

  /** @returns undefined when neither the id nor the delivery is kept. */
  add(
    delivery: StoredDelivery,
    {
      bytes,
      attempts,
      putOrder,
      keep,
      nowMs,
    }: {
      readonly putOrder: number;
      readonly bytes: number;
      readonly attempts: number;
      readonly keep: boolean;
      readonly nowMs: number;
    },
  ): CompletedEntry | undefined {
    if (!keep && delivery.isIdGenerated) return undefined;
    this.#order += 1;
    const done: CompletedEntry = {
      ref: { key: delivery.key, id: delivery.id },
      order: this.#order,
      completedAtMs: nowMs,
      sum: bodySum(delivery),
      delivery: keep ? delivery : undefined,
      bytes,
      attempts,
      putOrder,
    };
    if (!delivery.isIdGenerated) this.#remembered.add(done);
    if (keep) {
      this.#kept.add(done);
      this.bytes += bytes;
    }
    return done;
  }

  remove(done: CompletedEntry): void {
    this.#remembered.delete(done);
    this.#dropDelivery(done);
  }

  /** Whether its id is remembered or the delivery is kept. */
  has(done: CompletedEntry): boolean {
    return this.#remembered.has(done) || this.#kept.has(done);
  }

  forget({ beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number }): CompletedEntry[] {
    const forgotten: CompletedEntry[] = [];
    for (const one of this.#remembered) {
      const isSpare = one.completedAtMs < beforeMs || this.#remembered.size > keep;
      if (forgotten.length >= limit || !isSpare) break;
      this.#remembered.delete(one);
      forgotten.push(one);
    }
    return forgotten;
  }

  drop({
    beforeMs,
    keepBytes,
    limit,
    maxBytes,
  }: Portion & { beforeMs: number; keepBytes: number }): CompletedEntry[] {
    const dropped: CompletedEntry[] = [];
    let bytes = 0;
    for (const one of this.#kept) {
      bytes += one.bytes;
      const isSpare = one.completedAtMs < beforeMs || this.bytes > keepBytes;
      if (dropped.length >= limit || (bytes > maxBytes && dropped.length > 0) || !isSpare) break;
      this.#dropDelivery(one);
      dropped.push(one);
    }
    return dropped;
  }

  /** Kept deliveries of one id, or null for all, and of one key, or undefined for all. */
  *keptOf(id: string | null, key: string | undefined): Generator<CompletedEntry> {
    for (const one of this.#kept) {
      if ((id === null || one.ref.id === id) && (key === undefined || one.ref.key === key)) yield one;
    }
  }

  #dropDelivery(done: CompletedEntry): void {
    if (!this.#kept.delete(done)) return;
    this.bytes -= done.bytes;
    done.delivery = undefined;
  }
}

/** A copy for the caller: bytes that it overwrites must not reach the next caller. */
export function completedOf({
  delivery,
  attempts,
  completedAtMs,
}: CompletedEntry): StoredCompleted | undefined {
  if (delivery === undefined) return undefined;
  return { ...delivery, rawBody: new Uint8Array(delivery.rawBody), attempts, completedAtMs };
}
