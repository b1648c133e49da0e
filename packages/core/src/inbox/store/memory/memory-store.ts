import type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  InboxStore,
  OpenedStore,
  Put,
  PutResult,
  Settlement,
  StoreLimits,
  StoreStats,
} from '../inbox-store.ts';
import { MemoryAdmin } from './memory-admin.ts';
import { MemoryBank } from './memory-bank.ts';
import type { Awaitable } from '../../delivery/stored-delivery.ts';

/**
 * Keeps deliveries in the memory of the process, and loses them with it. For tests, and for inboxes whose deliveries
 * may be lost: a sender that has got its 202 will not send again.
 */
export function memoryStore(): InboxStore {
  return new MemoryStore(new MemoryBank());
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** One owner of what is in a bank. */
export class MemoryStore extends MemoryAdmin implements InboxStore {
  open(nowMs: number, options?: { readonly isOrdered: boolean }): Awaitable<OpenedStore> {
    return { ...this.bank.open(nowMs, options?.isOrdered), depthByKey: this.bank.depthByKey() };
  }

  put(
    batch: readonly Put[],
    { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]> {
    return batch.map((one) => this.bank.put(one, limits, nowMs));
  }

  claim(count: number, options: ClaimOptions): Awaitable<readonly ClaimedDelivery[]> {
    return this.bank.claim(count, this, options);
  }

  renew(
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]> {
    return claims.map((claim) => {
      const entry = this.bank.claimed(claim, this);
      if (entry !== undefined) this.bank.renew(entry, nowMs + leaseMs);
      return entry !== undefined;
    });
  }

  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]> {
    return settlements.map((settlement) => {
      const entry = this.bank.claimed(settlement, this);
      if (entry !== undefined) this.bank.settle(entry, settlement, nowMs);
      return entry !== undefined;
    });
  }

  nextDueMs(except: ReadonlySet<string> = NO_KEYS): Awaitable<number | undefined> {
    return this.bank.nextDueMs(this, except);
  }

  pause(key: string | null): Awaitable<boolean> {
    return this.bank.pause(key);
  }

  resume(key: string | null): Awaitable<boolean> {
    return this.bank.resume(key);
  }

  hasten(options: {
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number> {
    return this.bank.hasten(options);
  }

  depthByKey(): Awaitable<ReadonlyMap<string, number>> {
    return this.bank.depthByKey();
  }

  stats(): Awaitable<StoreStats> {
    return this.bank.stats();
  }

  close(nowMs: number): Awaitable<void> {
    this.bank.releaseAll(this, nowMs);
  }
}
