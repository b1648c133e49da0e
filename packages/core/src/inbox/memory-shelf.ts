import type { ShelvedDelivery, StoredDelivery } from './inbox-store.ts';

/** What is on the shelf. */
export interface Shelved {
  readonly delivery: StoredDelivery;
  readonly bytes: number;
  readonly attempts: number;
  readonly reason: ShelvedDelivery['reason'];
  readonly error: string;
  readonly shelvedAtMs: number;
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

  get(id: string): ShelvedDelivery | undefined {
    const [first] = this.#byId.get(id) ?? [];
    return first === undefined ? undefined : shown(first);
  }

  list(limit: number, offset: number): ShelvedDelivery[] {
    const listed: ShelvedDelivery[] = [];
    let passed = 0;
    for (const one of this.#all) {
      if (listed.length >= limit) break;
      if (passed >= offset) listed.push(shown(one));
      passed += 1;
    }
    return listed;
  }

  /** Takes those of this id, or with null of any, off, the oldest first. */
  take(id: string | null, limit: number): Shelved[] {
    const taken: Shelved[] = [];
    for (const one of id === null ? this.#all : (this.#byId.get(id) ?? [])) {
      if (taken.length >= limit) break;
      taken.push(one);
    }
    for (const one of taken) this.#remove(one);
    return taken;
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

function shown({ delivery, attempts, reason, error, shelvedAtMs }: Shelved): ShelvedDelivery {
  return { ...delivery, attempts, reason, error, shelvedAtMs };
}
