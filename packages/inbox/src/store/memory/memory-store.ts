import type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DueKeys,
  KeyClaim,
  KeyWant,
  InboxStore,
  OpenedStore,
  Settlement,
  StoreStats,
} from '../inbox-store.ts';
import type { Put, PutResult, StoreLimits } from '../receiving-store.ts';
import { MemoryAdmin } from './memory-admin.ts';
import { MemoryState } from './memory-state.ts';
import type { Awaitable } from '../../delivery/stored-delivery.ts';

/**
 * Keeps deliveries in memory and loses them when the process ends. For tests, and for inboxes whose deliveries may be
 * lost: a sender that was answered with 202 does not send the delivery again.
 */
export function memoryStore(): InboxStore {
  return new MemoryStore(new MemoryState(), true);
}

/** Whether no other inbox can use the deliveries of this store, so that it is useless without workers. */
export function isUnshared(store: unknown): boolean {
  return store instanceof MemoryStore && store.isUnshared;
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** One owner of the deliveries in a shared state. */
export class MemoryStore extends MemoryAdmin implements InboxStore {
  readonly isUnshared: boolean;

  constructor(memory: MemoryState, isUnshared = false) {
    super(memory);
    this.isUnshared = isUnshared;
  }

  open(nowMs: number, options?: { readonly isOrdered: boolean }): Awaitable<OpenedStore> {
    return { ...this.memory.open(nowMs, options?.isOrdered), depthByKey: this.memory.depthByKey() };
  }

  put(
    batch: readonly Put[],
    { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]> {
    return batch.map((one) => this.memory.put(one, limits, nowMs));
  }

  claim(count: number, options: ClaimOptions): Awaitable<readonly ClaimedDelivery[]> {
    return this.memory.claim(count, this, options);
  }

  claimKeys(
    wants: readonly KeyWant[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly KeyClaim[]> {
    return this.memory.claimKeys(wants, this, options);
  }

  dueKeys(options: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly dueByMs: number;
  }): Awaitable<DueKeys> {
    return this.memory.dueKeys(this, options);
  }

  renew(
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]> {
    return claims.map((claim) => {
      const entry = this.memory.claimed(claim, this);
      if (entry !== undefined) this.memory.renew(entry, nowMs + leaseMs);
      return entry !== undefined;
    });
  }

  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]> {
    return settlements.map((settlement) => {
      const entry = this.memory.claimed(settlement, this);
      if (entry !== undefined) this.memory.settle(entry, settlement, nowMs);
      return entry !== undefined;
    });
  }

  nextDueMs(except: ReadonlySet<string> = NO_KEYS): Awaitable<number | undefined> {
    return this.memory.nextDueMs(this, except);
  }

  pause(key: string | null): Awaitable<boolean> {
    return this.memory.pause(key);
  }

  resume(key: string | null): Awaitable<boolean> {
    return this.memory.resume(key);
  }

  hasten(options: {
    readonly key?: string | undefined;
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.memory.hasten(options);
  }

  depthByKey(): Awaitable<ReadonlyMap<string, number>> {
    return this.memory.depthByKey();
  }

  stats(): Awaitable<StoreStats> {
    return this.memory.stats();
  }

  close(nowMs: number): Awaitable<void> {
    this.memory.releaseAll(this, nowMs);
  }
}
