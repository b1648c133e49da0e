import type { MemoryState } from './memory-state.ts';
import { completedOf, type CompletedEntry } from './memory-completed.ts';
import type { PendingEntry } from './memory-pending.ts';
import type {
  Counted,
  ListedCompleted,
  ListedDelivery,
  ListedPending,
  MovedDelivery,
  PageQuery,
  PendingState,
  Portion,
  ShelfScope,
  ShelvedDelivery,
  StoreAdmin,
  StoredCompleted,
  StoredPage,
  StoredPending,
} from '../store-admin.ts';
import type { Awaitable, DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';

/** The operator and maintenance calls of a memory store. */
export class MemoryAdmin implements StoreAdmin {
  protected readonly memory: MemoryState;

  constructor(memory: MemoryState) {
    this.memory = memory;
  }

  listShelved({
    key,
    limit,
    offset,
  }: ShelfScope & { readonly limit: number; readonly offset: number }): Awaitable<readonly ListedDelivery[]> {
    return this.memory.deadLetters.list(key, limit, offset);
  }

  getShelved(id: string, { key }: ShelfScope): Awaitable<ShelvedDelivery | undefined> {
    return this.memory.deadLetters.get(id, key);
  }

  countShelved(id: string | null, { key }: ShelfScope): Awaitable<Counted> {
    return this.memory.deadLetters.count({ id, key });
  }

  redrive(
    id: string | null,
    { key, nowMs, upTo, ...portion }: Parameters<StoreAdmin['redrive']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    return this.memory.deadLetters.take({ id, key }, portion, { upTo }).map(({ delivery, bytes, order }) => {
      this.memory.add(delivery, { bytes, order, nowMs });
      return moved(delivery, bytes);
    });
  }

  purge(
    id: string | null,
    { key, beforeMs, upTo, ...portion }: Parameters<StoreAdmin['purge']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    return this.memory.deadLetters
      .take({ id, key }, portion, { beforeMs, upTo })
      .map(({ delivery, bytes }) => {
        this.memory.forget(delivery);
        return moved(delivery, bytes);
      });
  }

  noteRoom(): Awaitable<void> {
    // No other process can redrive into this memory.
  }

  listPending(
    query: PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number },
  ): Awaitable<StoredPage<ListedPending>> {
    const { key, state, nowMs } = query;
    const found = [...this.memory.unfinished].filter(
      (entry) =>
        entry.order > query.after &&
        (key === undefined || entry.delivery.key === key) &&
        (state === undefined || stateOf(entry, nowMs) === state),
    );
    // Already in order, except for redriven deliveries.
    found.sort((a, b) => a.order - b.order);
    return page(found, query, (entry) => listed(pendingOf(entry, nowMs)));
  }

  getPending(ref: DeliveryRef, nowMs: number): Awaitable<StoredPending | undefined> {
    const entry = this.memory.unfinishedOf(ref);
    if (entry === undefined) return undefined;
    const found = pendingOf(entry, nowMs);
    return { ...found, rawBody: new Uint8Array(found.rawBody) };
  }

  listCompleted(query: PageQuery): Awaitable<StoredPage<ListedCompleted>> {
    const found = [...this.memory.completed.keptOf(null, query.key)].filter(
      ({ order }) => order > query.after,
    );
    return page(found, query, (done) => listed(completedOf(done) as StoredCompleted));
  }

  getCompleted(id: string, { key }: ShelfScope): Awaitable<StoredCompleted | undefined> {
    const last = [...this.memory.completed.keptOf(id, key)].at(-1);
    return last === undefined ? undefined : completedOf(last);
  }

  countCompleted(id: string | null, { key }: ShelfScope): Awaitable<Counted> {
    const found = [...this.memory.completed.keptOf(id, key)];
    return { count: found.length, upTo: found.at(-1)?.order ?? 0 };
  }

  replay(
    id: string | null,
    { key, nowMs, limit, maxBytes, upTo = Infinity }: Parameters<StoreAdmin['replay']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    const chosen: { readonly done: CompletedEntry; readonly delivery: StoredDelivery }[] = [];
    let bytes = 0;
    for (const done of this.memory.completed.keptOf(id, key)) {
      bytes += done.bytes;
      if (done.order > upTo || chosen.length >= limit || (bytes > maxBytes && chosen.length > 0)) break;
      if (done.delivery !== undefined) chosen.push({ done, delivery: done.delivery });
    }
    return chosen.map(({ done, delivery }) => {
      this.memory.completed.remove(done);
      this.memory.add(delivery, { bytes: done.bytes, order: done.putOrder, nowMs });
      return moved(delivery, done.bytes);
    });
  }

  dropCompleted(
    options: Portion & { readonly beforeMs: number; readonly keepBytes: number },
  ): Awaitable<readonly MovedDelivery[]> {
    return this.#forgetIds(this.memory.completed.drop(options)).map(({ ref, bytes }) => moved(ref, bytes));
  }

  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.#forgetIds(this.memory.completed.forget(options)).length;
  }

  forgetId(ref: DeliveryRef): Awaitable<boolean> {
    const known = this.memory.known(ref);
    if (known === undefined || !('ref' in known)) return false;
    this.memory.completed.remove(known);
    this.memory.forget(ref);
    return true;
  }

  /** An id that is neither remembered nor kept is accepted again. */
  #forgetIds(gone: readonly CompletedEntry[]): readonly CompletedEntry[] {
    for (const done of gone) if (!this.memory.completed.has(done)) this.memory.forget(done.ref);
    return gone;
  }
}

function page<T extends { readonly order: number }, R>(
  found: readonly T[],
  { limit }: PageQuery,
  show: (one: T) => R,
): StoredPage<R> {
  const some = found.slice(0, limit);
  return {
    deliveries: some.map(show),
    next: found.length > limit ? some.at(-1)?.order : undefined,
  };
}

function stateOf({ owner, dueMs, isRetry }: PendingEntry, nowMs: number): PendingState {
  if (owner !== null) return 'active';
  return isRetry && dueMs > nowMs ? 'delayed' : 'ready';
}

function pendingOf(entry: PendingEntry, nowMs: number): StoredPending {
  const { delivery, attempts, dueMs } = entry;
  return { ...delivery, state: stateOf(entry, nowMs), attempts, dueMs };
}

function listed<T extends StoredDelivery>({
  rawBody,
  ...rest
}: T): Omit<T, 'rawBody'> & { bodyBytes: number } {
  return { ...rest, bodyBytes: rawBody.byteLength };
}

function moved({ key, id }: DeliveryRef, bytes: number): MovedDelivery {
  return { key, id, bytes };
}
