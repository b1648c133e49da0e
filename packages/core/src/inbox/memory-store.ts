import { MemoryBank } from './memory-bank.ts';
import type {
  Awaitable,
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DeliveryRef,
  InboxStore,
  ListedDelivery,
  OpenedStore,
  Put,
  PutResult,
  Settlement,
  ShelfScope,
  ShelvedDelivery,
  StoreLimits,
  StoreStats,
} from './inbox-store.ts';

/**
 * Keeps deliveries in the memory of the process, and loses them with it. For tests, and for inboxes whose deliveries
 * may be lost: a sender that has got its 202 will not send again.
 */
export function memoryStore(): InboxStore {
  return new MemoryStore(new MemoryBank());
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** One owner of what is in a bank. */
export class MemoryStore implements InboxStore {
  readonly #bank: MemoryBank;

  constructor(bank: MemoryBank) {
    this.#bank = bank;
  }

  open(nowMs: number, options?: { readonly isOrdered: boolean }): Awaitable<OpenedStore> {
    return { ...this.#bank.open(nowMs, options?.isOrdered), depthByKey: this.#bank.depthByKey() };
  }

  put(
    batch: readonly Put[],
    { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]> {
    return batch.map((one) => this.#bank.put(one, limits, nowMs));
  }

  claim(count: number, options: ClaimOptions): Awaitable<readonly ClaimedDelivery[]> {
    return this.#bank.claim(count, this, options);
  }

  renew(
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]> {
    return claims.map((claim) => {
      const entry = this.#bank.claimed(claim, this);
      if (entry !== undefined) entry.leaseEndsMs = nowMs + leaseMs;
      return entry !== undefined;
    });
  }

  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]> {
    return settlements.map((settlement) => {
      const entry = this.#bank.claimed(settlement, this);
      if (entry !== undefined) this.#bank.settle(entry, settlement, nowMs);
      return entry !== undefined;
    });
  }

  nextDueMs(except: ReadonlySet<string> = NO_KEYS): Awaitable<number | undefined> {
    return this.#bank.nextDueMs(this, except);
  }

  pause(key: string | null): Awaitable<boolean> {
    return this.#bank.pause(key);
  }

  resume(key: string | null): Awaitable<boolean> {
    return this.#bank.resume(key);
  }

  listShelved({
    key,
    limit,
    offset,
  }: ShelfScope & {
    readonly limit: number;
    readonly offset: number;
  }): Awaitable<readonly ListedDelivery[]> {
    return this.#bank.shelf.list(key, limit, offset);
  }

  getShelved(id: string, { key }: ShelfScope): Awaitable<ShelvedDelivery | undefined> {
    return this.#bank.shelf.get(id, key);
  }

  redrive(
    id: string | null,
    { key, limit, nowMs }: ShelfScope & { readonly limit: number; readonly nowMs: number },
  ): Awaitable<readonly DeliveryRef[]> {
    return this.#bank.redrive({ id, key, limit }, nowMs);
  }

  purge(id: string | null, { key, limit }: ShelfScope & { readonly limit: number }): Awaitable<number> {
    return this.#bank.purge({ id, key, limit });
  }

  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.#bank.forget(options);
  }

  hasten(options: {
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.#bank.hasten(options);
  }

  depthByKey(): Awaitable<ReadonlyMap<string, number>> {
    return this.#bank.depthByKey();
  }

  stats(): Awaitable<StoreStats> {
    return this.#bank.stats();
  }

  close(nowMs: number): Awaitable<void> {
    this.#bank.releaseAll(this, nowMs);
  }
}
