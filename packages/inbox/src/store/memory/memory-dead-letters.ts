import type { Counted, ListedDelivery, Portion, ShelvedDelivery } from '../store-admin.ts';
import type { StoredDelivery } from '../../delivery/stored-delivery.ts';

/** A dead letter of a memory store. */
export interface DeadLetterEntry {
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** Position in the order of storing, which a redrive restores. */
  readonly order: number;
  readonly attempts: number;
  readonly reason: ShelvedDelivery['reason'];
  readonly error: string;
  readonly shelvedAtMs: number;
}

/** Which dead letters: of one id, or null for all, and of one key, or undefined for all. */
export interface Selection {
  readonly id: string | null;
  readonly key: string | undefined;
}

/** The dead-letter queue of a memory store, the oldest first. */
export class MemoryDeadLetters {
  bytes = 0;
  readonly #all = new Set<DeadLetterEntry>();
  readonly #byId = new Map<string, Set<DeadLetterEntry>>();

  get size(): number {
    return this.#all.size;
  }

  add(entry: DeadLetterEntry): DeadLetterEntry {
    const { id } = entry.delivery;
    this.#all.add(entry);
    this.#byId.set(id, (this.#byId.get(id) ?? new Set()).add(entry));
    this.bytes += entry.bytes;
    return entry;
  }

  get(id: string, key: string | undefined): ShelvedDelivery | undefined {
    const [first] = this.#find({ id, key }, 1);
    if (first === undefined) return undefined;
    const { delivery, attempts, reason, error, shelvedAtMs } = first;
    const rawBody = new Uint8Array(delivery.rawBody);
    return { ...delivery, rawBody, attempts, reason, error, shelvedAtMs };
  }

  list(key: string | undefined, limit: number, offset: number): ListedDelivery[] {
    return this.#find({ id: null, key }, offset + limit)
      .slice(offset)
      .map(({ delivery, attempts, reason, error, shelvedAtMs }) => {
        const { rawBody, ...rest } = delivery;
        return { ...rest, bodyBytes: rawBody.byteLength, attempts, reason, error, shelvedAtMs };
      });
  }

  count(which: Selection): Counted {
    const found = this.#find(which, Infinity);
    return { count: found.length, upTo: found.at(-1)?.shelvedAtMs ?? 0 };
  }

  /** Removes and returns the oldest, those only that were added before `beforeMs` and not after `upTo`. */
  take(
    which: Selection,
    { limit, maxBytes }: Portion,
    {
      beforeMs = Infinity,
      upTo = Infinity,
    }: { beforeMs?: number | undefined; upTo?: number | undefined } = {},
  ): DeadLetterEntry[] {
    const taken: DeadLetterEntry[] = [];
    let bytes = 0;
    for (const one of this.#find(which, limit)) {
      bytes += one.bytes;
      if ((bytes > maxBytes && taken.length > 0) || one.shelvedAtMs >= beforeMs || one.shelvedAtMs > upTo)
        break;
      this.#remove(one);
      taken.push(one);
    }
    return taken;
  }

  #find({ id, key }: Selection, limit: number): DeadLetterEntry[] {
    const found: DeadLetterEntry[] = [];
    for (const one of id === null ? this.#all : (this.#byId.get(id) ?? [])) {
      if (found.length >= limit) break;
      if (key === undefined || one.delivery.key === key) found.push(one);
    }
    return found;
  }

  #remove(one: DeadLetterEntry): void {
    const { id } = one.delivery;
    const sameId = this.#byId.get(id);
    this.#all.delete(one);
    sameId?.delete(one);
    if (sameId?.size === 0) this.#byId.delete(id);
    this.bytes -= one.bytes;
  }
}
