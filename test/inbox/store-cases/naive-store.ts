import type {
  ClaimedDelivery,
  ClaimRef,
  Put,
  PutResult,
  Settlement,
  StoreLimits,
} from '@webhook-backpressure/core';
import { expect } from 'vitest';

interface Row {
  readonly key: string;
  readonly id: string;
  readonly order: number;
  state: 'waiting' | 'claimed' | 'shelved' | 'completed';
  isKept: boolean;
  isRemembered: boolean;
  /** Whether its last attempt has failed. */
  isRetry: boolean;
  attempts: number;
  strandings: number;
  /** Of what waits: when it is due. Of what is completed or shelved: since when. */
  atMs: number;
  /** Of what is completed or shelved: in which order. */
  endOrder: number;
  owner: number;
  leaseEndsMs: number;
}

/** One list, and every question answered by looking at all of it. */
export class NaiveStore {
  #rows: Row[] = [];
  #puts = 0;
  #ends = 0;

  put(batch: readonly Put[], limits: StoreLimits, nowMs: number): PutResult[] {
    return batch.map(({ delivery: { key, id }, isOverflow }) => {
      if (this.#find({ key, id }) !== undefined) return 'duplicate';
      const rivals = this.#rows.filter(({ state }) =>
        isOverflow ? state === 'shelved' : state === 'waiting' || state === 'claimed',
      );
      if (rivals.length >= (isOverflow ? limits.maxShelved : limits.capacity)) return 'full';
      this.#puts += 1;
      const state = isOverflow ? 'shelved' : 'waiting';
      const row = { key, id, order: this.#puts, state, attempts: 0, strandings: 0 } as const;
      const fresh = { isKept: false, isRemembered: false, isRetry: false, owner: -1, leaseEndsMs: 0 };
      this.#ends += 1;
      this.#rows.push({ ...row, ...fresh, atMs: nowMs, endOrder: this.#ends });
      return 'stored';
    });
  }

  /** Checks what a store has let an owner claim, and claims the same. */
  claim(
    owner: number,
    count: number,
    options: { readonly leaseMs: number; readonly nowMs: number; readonly isStrandedAllowed: boolean },
    got: readonly ClaimedDelivery[],
  ): void {
    const { leaseMs, nowMs, isStrandedAllowed } = options;
    const isLost = (row: Row): boolean =>
      row.state === 'claimed' && row.owner !== owner && row.leaseEndsMs <= nowMs;
    for (const row of this.#rows.filter(isLost)) {
      row.state = 'waiting';
      row.strandings += 1;
      row.atMs = Math.min(row.atMs, nowMs);
    }
    const due = this.#rows.filter(({ state, atMs }) => state === 'waiting' && atMs <= nowMs);
    const fresh = due.filter(({ strandings }) => strandings === 0);
    const isStrandedDue = isStrandedAllowed && due.length > fresh.length;
    expect(got.length).toBe(Math.min(count, fresh.length + (isStrandedDue ? 1 : 0)));
    expect(got.filter(({ strandings }) => strandings > 0).length).toBeLessThanOrEqual(
      isStrandedAllowed ? 1 : 0,
    );
    for (const { key, id, attempt, strandings } of got) {
      const row = this.#find({ key, id });
      if (row === undefined) throw new Error(`${key}/${id} is not there`);
      const line = due.filter(
        (one) => one.key === key && one.strandings > 0 === strandings > 0 && one.state === 'waiting',
      );
      line.sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      if (strandings === 0) expect(line[0]).toBe(row);
      expect(line).toContain(row);
      expect({ attempt, strandings }).toEqual({ attempt: row.attempts + 1, strandings: row.strandings });
      Object.assign(row, { state: 'claimed', attempts: attempt, owner, leaseEndsMs: nowMs + leaseMs });
    }
  }

  renew(owner: number, ref: ClaimRef, leaseEndsMs: number): boolean {
    const row = this.#held(owner, ref);
    if (row !== undefined) row.leaseEndsMs = leaseEndsMs;
    return row !== undefined;
  }

  settle(owner: number, settlement: Settlement, nowMs: number): boolean {
    const row = this.#held(owner, settlement);
    if (row === undefined) return false;
    this.#ends += 1;
    const ended = { atMs: nowMs, endOrder: this.#ends };
    if (settlement.as === 'completed')
      Object.assign(row, { ...ended, state: 'completed', isKept: settlement.keep, isRemembered: true });
    if (settlement.as === 'dead') Object.assign(row, { ...ended, state: 'shelved' });
    if (settlement.as === 'failed')
      Object.assign(row, { state: 'waiting', atMs: settlement.retryAtMs, isRetry: true });
    if (settlement.as === 'released')
      Object.assign(row, { state: 'waiting', attempts: row.attempts - 1, isRetry: false });
    return true;
  }

  putBack(what: 'redrive' | 'replay', id: string | null, limit: number, nowMs: number): string[] {
    const isThere = (row: Row): boolean => (what === 'redrive' ? row.state === 'shelved' : row.isKept);
    const back = this.#ended((row) => isThere(row) && (id === null || row.id === id)).slice(0, limit);
    const fresh = { isKept: false, isRemembered: false, isRetry: false, attempts: 0, strandings: 0 };
    for (const row of back) Object.assign(row, { ...fresh, state: 'waiting', atMs: nowMs });
    return namesOf(back);
  }

  purge(id: string): string[] {
    return this.#remove((row) => row.state === 'shelved' && row.id === id);
  }

  drop(beforeMs: number): string[] {
    const dropped = this.#rows.filter((row) => row.isKept && row.atMs < beforeMs);
    for (const row of dropped) row.isKept = false;
    this.#sweep();
    return namesOf(dropped);
  }

  /** Checks that a store has forgotten none but the oldest, and none too early; which it keeps for longer is up to it. */
  forget(beforeMs: number, count: number): void {
    const forgotten = this.#ended((row) => row.isRemembered).slice(0, count);
    expect(forgotten.length).toBe(count);
    for (const row of forgotten) {
      expect(row.atMs).toBeLessThan(beforeMs);
      row.isRemembered = false;
    }
    this.#sweep();
  }

  forgetId(ref: { readonly key: string; readonly id: string }): boolean {
    return (
      this.#remove((row) => row.state === 'completed' && row.key === ref.key && row.id === ref.id).length > 0
    );
  }

  pending(nowMs: number): unknown[] {
    const stateOf = ({ state, isRetry, atMs }: Row): string => {
      if (state === 'claimed') return 'active';
      return isRetry && atMs > nowMs ? 'delayed' : 'ready';
    };
    return this.#rows
      .filter(({ state }) => state === 'waiting' || state === 'claimed')
      .map((row) => [row.key, row.id, stateOf(row), row.attempts, row.atMs]);
  }

  hasten(afterMs: number, nowMs: number): number {
    const late = this.#rows.filter(({ state, atMs }) => state === 'waiting' && atMs > afterMs);
    for (const row of late) row.atMs = nowMs;
    return late.length;
  }

  depthByKey(): Map<string, number> {
    const depths = new Map<string, number>();
    for (const { key, state } of this.#rows) {
      if (state === 'waiting' || state === 'claimed') depths.set(key, (depths.get(key) ?? 0) + 1);
    }
    return depths;
  }

  counts(): Record<string, number> {
    const count = (...states: readonly string[]): number =>
      this.#rows.filter(({ state }) => states.includes(state)).length;
    return {
      depth: count('waiting', 'claimed'),
      inFlight: count('claimed'),
      shelved: count('shelved'),
      remembered: this.#rows.filter((row) => row.isRemembered).length,
      kept: this.#rows.filter((row) => row.isKept).length,
    };
  }

  nextDueMs(owner: number): number | undefined {
    const times = this.#rows.flatMap((row) => {
      if (row.state === 'waiting') return [row.atMs];
      return row.state === 'claimed' && row.owner !== owner ? [row.leaseEndsMs] : [];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #held(owner: number, ref: ClaimRef): Row | undefined {
    const row = this.#find(ref);
    return row?.state === 'claimed' && row.owner === owner && row.attempts === ref.attempt ? row : undefined;
  }

  #find({ key, id }: { readonly key: string; readonly id: string }): Row | undefined {
    return this.#rows.find((row) => row.key === key && row.id === id);
  }

  /** In the order in which they were shelved or completed. */
  #ended(isMeant: (row: Row) => boolean): Row[] {
    return this.#rows.filter(isMeant).sort((a, b) => a.atMs - b.atMs || a.endOrder - b.endOrder);
  }

  /** What nothing knows any more is gone. */
  #sweep(): void {
    this.#remove((row) => row.state === 'completed' && !row.isKept && !row.isRemembered);
  }

  #remove(isGone: (row: Row) => boolean): string[] {
    const gone = this.#rows.filter(isGone);
    this.#rows = this.#rows.filter((row) => !gone.includes(row));
    return namesOf(gone);
  }
}

function namesOf(rows: readonly Row[]): string[] {
  return rows.map(({ key, id }) => `${key}/${id}`).sort();
}
