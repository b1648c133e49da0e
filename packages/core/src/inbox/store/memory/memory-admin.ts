import type { MemoryBank } from './memory-bank.ts';
import { completedOf, type Done } from './memory-done.ts';
import type { Entry } from './memory-entry.ts';
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

/** What operators and upkeep ask of a memory store. */
export class MemoryAdmin implements StoreAdmin {
  protected readonly bank: MemoryBank;

  constructor(bank: MemoryBank) {
    this.bank = bank;
  }

  listShelved({
    key,
    limit,
    offset,
  }: ShelfScope & { readonly limit: number; readonly offset: number }): Awaitable<readonly ListedDelivery[]> {
    return this.bank.shelf.list(key, limit, offset);
  }

  getShelved(id: string, { key }: ShelfScope): Awaitable<ShelvedDelivery | undefined> {
    return this.bank.shelf.get(id, key);
  }

  countShelved(id: string | null, { key }: ShelfScope): Awaitable<Counted> {
    return this.bank.shelf.count({ id, key });
  }

  redrive(
    id: string | null,
    { key, nowMs, upTo, ...portion }: Parameters<StoreAdmin['redrive']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    return this.bank.shelf.take({ id, key }, portion, { upTo }).map(({ delivery, bytes, order }) => {
      this.bank.add(delivery, { bytes, order, nowMs });
      return moved(delivery, bytes);
    });
  }

  purge(
    id: string | null,
    { key, beforeMs, upTo, ...portion }: Parameters<StoreAdmin['purge']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    return this.bank.shelf.take({ id, key }, portion, { beforeMs, upTo }).map(({ delivery, bytes }) => {
      this.bank.forget(delivery);
      return moved(delivery, bytes);
    });
  }

  noteRoom(): Awaitable<void> {
    // Nobody else can put anything back here.
  }

  listPending(
    query: PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number },
  ): Awaitable<StoredPage<ListedPending>> {
    const { key, state, nowMs } = query;
    const found = [...this.bank.unfinished].filter(
      (entry) =>
        entry.order > query.after &&
        (key === undefined || entry.delivery.key === key) &&
        (state === undefined || stateOf(entry, nowMs) === state),
    );
    // In order already, but for what was put back.
    found.sort((a, b) => a.order - b.order);
    return page(found, query, (entry) => listed(pendingOf(entry, nowMs)));
  }

  getPending(ref: DeliveryRef, nowMs: number): Awaitable<StoredPending | undefined> {
    const entry = this.bank.unfinishedOf(ref);
    if (entry === undefined) return undefined;
    const found = pendingOf(entry, nowMs);
    return { ...found, rawBody: new Uint8Array(found.rawBody) };
  }

  listCompleted(query: PageQuery): Awaitable<StoredPage<ListedCompleted>> {
    const found = [...this.bank.done.keptOf(null, query.key)].filter(({ order }) => order > query.after);
    return page(found, query, (done) => listed(completedOf(done) as StoredCompleted));
  }

  getCompleted(id: string, { key }: ShelfScope): Awaitable<StoredCompleted | undefined> {
    const last = [...this.bank.done.keptOf(id, key)].at(-1);
    return last === undefined ? undefined : completedOf(last);
  }

  countCompleted(id: string | null, { key }: ShelfScope): Awaitable<Counted> {
    const found = [...this.bank.done.keptOf(id, key)];
    return { count: found.length, upTo: found.at(-1)?.order ?? 0 };
  }

  replay(
    id: string | null,
    { key, nowMs, limit, maxBytes, upTo = Infinity }: Parameters<StoreAdmin['replay']>[1],
  ): Awaitable<readonly MovedDelivery[]> {
    const chosen: { readonly done: Done; readonly delivery: StoredDelivery }[] = [];
    let bytes = 0;
    for (const done of this.bank.done.keptOf(id, key)) {
      bytes += done.bytes;
      if (done.order > upTo || chosen.length >= limit || (bytes > maxBytes && chosen.length > 0)) break;
      if (done.delivery !== undefined) chosen.push({ done, delivery: done.delivery });
    }
    return chosen.map(({ done, delivery }) => {
      this.bank.done.remove(done);
      this.bank.add(delivery, { bytes: done.bytes, order: done.putOrder, nowMs });
      return moved(delivery, done.bytes);
    });
  }

  dropCompleted(
    options: Portion & { readonly beforeMs: number; readonly keepBytes: number },
  ): Awaitable<readonly MovedDelivery[]> {
    return this.#let(this.bank.done.drop(options)).map(({ ref, bytes }) => moved(ref, bytes));
  }

  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.#let(this.bank.done.forget(options)).length;
  }

  forgetId(ref: DeliveryRef): Awaitable<boolean> {
    const known = this.bank.known(ref);
    if (known === undefined || !('ref' in known)) return false;
    this.bank.done.remove(known);
    this.bank.forget(ref);
    return true;
  }

  /** What nothing knows any more may come again. */
  #let(gone: readonly Done[]): readonly Done[] {
    for (const done of gone) if (!this.bank.done.has(done)) this.bank.forget(done.ref);
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

function stateOf({ owner, dueMs, isRetry }: Entry, nowMs: number): PendingState {
  if (owner !== null) return 'active';
  return isRetry && dueMs > nowMs ? 'delayed' : 'ready';
}

function pendingOf(entry: Entry, nowMs: number): StoredPending {
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
