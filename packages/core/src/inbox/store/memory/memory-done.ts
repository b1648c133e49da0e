import { bodySum } from '../../delivery/body-sum.ts';
import type { Portion, StoredCompleted } from '../store-admin.ts';
import type { DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';

/** A delivery that was completed: remembered by its id, or kept whole, or both. */
export interface Done {
  readonly ref: DeliveryRef;
  /** In which it was completed. */
  readonly order: number;
  /** In which it was put. */
  readonly putOrder: number;
  readonly completedAtMs: number;
  readonly sum: number;
  /** While it is kept. */
  delivery: StoredDelivery | undefined;
  readonly bytes: number;
  readonly attempts: number;
}

/** What was completed, in the order of completion. */
export class MemoryDone {
  bytes = 0;
  readonly #remembered = new Set<Done>();
  readonly #kept = new Set<Done>();
  #order = 0;

  get remembered(): number {
    return this.#remembered.size;
  }

  get kept(): number {
    return this.#kept.size;
  }

  /** @returns undefined when nobody will ask for it again. */
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
  ): Done | undefined {
    if (!keep && delivery.isIdGenerated) return undefined;
    this.#order += 1;
    const done: Done = {
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

  /** Takes it out of everything. */
  remove(done: Done): void {
    this.#remembered.delete(done);
    this.#letGo(done);
  }

  /** Whether anything still knows it. */
  has(done: Done): boolean {
    return this.#remembered.has(done) || this.#kept.has(done);
  }

  forget({ beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number }): Done[] {
    const forgotten: Done[] = [];
    for (const one of this.#remembered) {
      const isSpare = one.completedAtMs < beforeMs || this.#remembered.size > keep;
      if (forgotten.length >= limit || !isSpare) break;
      this.#remembered.delete(one);
      forgotten.push(one);
    }
    return forgotten;
  }

  drop({ beforeMs, keepBytes, limit, maxBytes }: Portion & { beforeMs: number; keepBytes: number }): Done[] {
    const dropped: Done[] = [];
    let bytes = 0;
    for (const one of this.#kept) {
      bytes += one.bytes;
      const isSpare = one.completedAtMs < beforeMs || this.bytes > keepBytes;
      if (dropped.length >= limit || (bytes > maxBytes && dropped.length > 0) || !isSpare) break;
      this.#letGo(one);
      dropped.push(one);
    }
    return dropped;
  }

  /** Those of an id, or with null of any, and of a key, or with undefined of any, that are kept. */
  *keptOf(id: string | null, key: string | undefined): Generator<Done> {
    for (const one of this.#kept) {
      if ((id === null || one.ref.id === id) && (key === undefined || one.ref.key === key)) yield one;
    }
  }

  #letGo(done: Done): void {
    if (!this.#kept.delete(done)) return;
    this.bytes -= done.bytes;
    done.delivery = undefined;
  }
}

/** A kept one as it is given out: what is written into its bytes must not reach the next one who asks. */
export function completedOf({ delivery, attempts, completedAtMs }: Done): StoredCompleted | undefined {
  if (delivery === undefined) return undefined;
  return { ...delivery, rawBody: new Uint8Array(delivery.rawBody), attempts, completedAtMs };
}
