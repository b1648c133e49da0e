import type { Counted, ListedDelivery, Portion, ShelvedDelivery } from '../store-admin.ts';
import type { StoredDelivery } from '../../delivery/stored-delivery.ts';

/** What is on the shelf. */
export interface Shelved {
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  /** In which it was put, for the order of its key. */
  readonly order: number;
  readonly attempts: number;
  readonly reason: ShelvedDelivery['reason'];
  readonly error: string;
  readonly shelvedAtMs: number;
}

/** Those of an id, or with null of any, and of a key, or with undefined of any. */
export interface Selection {
  readonly id: string | null;
  readonly key: string | undefined;
}

/** The shelf, in the order in which deliveries came onto it. */
export class MemoryShelf {
  bytes = 0;
  readonly #all = new Set<Shelved>();
  readonly #byId = new Map<string, Set<Shelved>>();

  get size(): number {
    return this.#all.size;
  }

  add(shelved: Shelved): Shelved {
    const { id } = shelved.delivery;
    this.#all.add(shelved);
    this.#byId.set(id, (this.#byId.get(id) ?? new Set()).add(shelved));
    this.bytes += shelved.bytes;
    return shelved;
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

  /** Takes the oldest off, those only that were shelved before and up to these times. */
  take(
    which: Selection,
    { limit, maxBytes }: Portion,
    {
      beforeMs = Infinity,
      upTo = Infinity,
    }: { beforeMs?: number | undefined; upTo?: number | undefined } = {},
  ): Shelved[] {
    const taken: Shelved[] = [];
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

  #find({ id, key }: Selection, limit: number): Shelved[] {
    const found: Shelved[] = [];
    for (const one of id === null ? this.#all : (this.#byId.get(id) ?? [])) {
      if (found.length >= limit) break;
      if (key === undefined || one.delivery.key === key) found.push(one);
    }
    return found;
  }

  #remove(one: Shelved): void {
    const { id } = one.delivery;
    const sameId = this.#byId.get(id);
    this.#all.delete(one);
    sameId?.delete(one);
    if (sameId?.size === 0) this.#byId.delete(id);
    this.bytes -= one.bytes;
  }
}
