import type { ListedDelivery, ShelvedDelivery, StoredDelivery } from './inbox-store.ts';

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

/** Those of an id, or with null of any, and of a key, or with undefined of any; the oldest, at most `limit`. */
export interface Selection {
  readonly id: string | null;
  readonly key: string | undefined;
  readonly limit: number;
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
    const [first] = this.#find({ id, key, limit: 1 });
    if (first === undefined) return undefined;
    const { delivery, attempts, reason, error, shelvedAtMs } = first;
    const rawBody = new Uint8Array(delivery.rawBody);
    return { ...delivery, rawBody, attempts, reason, error, shelvedAtMs };
  }

  list(key: string | undefined, limit: number, offset: number): ListedDelivery[] {
    return this.#find({ id: null, key, limit: offset + limit })
      .slice(offset)
      .map(({ delivery, attempts, reason, error, shelvedAtMs }) => {
        const { rawBody, ...rest } = delivery;
        return { ...rest, bodyBytes: rawBody.byteLength, attempts, reason, error, shelvedAtMs };
      });
  }

  /** Takes them off. */
  take(which: Selection): Shelved[] {
    const taken = this.#find(which);
    for (const one of taken) this.#remove(one);
    return taken;
  }

  #find({ id, key, limit }: Selection): Shelved[] {
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
