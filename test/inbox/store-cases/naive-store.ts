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
  attempts: number;
  strandings: number;
  /** Of what waits: when it is due. Of what is completed: since when. */
  atMs: number;
  owner: number;
  leaseEndsMs: number;
}

/** One list, and every question answered by looking at all of it. */
export class NaiveStore {
  #rows: Row[] = [];
  #puts = 0;

  put(batch: readonly Put[], limits: StoreLimits, nowMs: number): PutResult[] {
    return batch.map(({ delivery: { key, id }, isOverflow }) => {
      if (this.#find({ key, id }) !== undefined) return 'duplicate';
      const rivals = this.#rows.filter(({ state }) =>
        isOverflow ? state === 'shelved' : state === 'waiting' || state === 'claimed',
      );
      if (rivals.length >= limits.capacity) return 'full';
      this.#puts += 1;
      const state = isOverflow ? 'shelved' : 'waiting';
      const row = { key, id, order: this.#puts, state, attempts: 0, strandings: 0 } as const;
      this.#rows.push({ ...row, atMs: nowMs, owner: -1, leaseEndsMs: 0 });
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
    if (settlement.as === 'completed') Object.assign(row, { state: 'completed', atMs: nowMs });
    if (settlement.as === 'dead') row.state = 'shelved';
    if (settlement.as === 'failed') Object.assign(row, { state: 'waiting', atMs: settlement.retryAtMs });
    if (settlement.as === 'released') Object.assign(row, { state: 'waiting', attempts: row.attempts - 1 });
    return true;
  }

  redrive(id: string | null, nowMs: number): string[] {
    const back = this.#rows
      .filter((row) => row.state === 'shelved' && (id === null || row.id === id))
      .slice(0, 9);
    for (const row of back) {
      this.#puts += 1;
      this.#rows = this.#rows.filter((one) => one !== row);
      this.#rows.push({
        ...row,
        order: this.#puts,
        state: 'waiting',
        attempts: 0,
        strandings: 0,
        atMs: nowMs,
      });
    }
    return back.map((row) => `${row.key}/${row.id}`).sort();
  }

  purge(id: string): number {
    return this.#remove((row) => row.state === 'shelved' && row.id === id);
  }

  forget(beforeMs: number): number {
    return this.#remove((row) => row.state === 'completed' && row.atMs < beforeMs);
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
      remembered: count('completed'),
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

  #remove(isGone: (row: Row) => boolean): number {
    const before = this.#rows.length;
    this.#rows = this.#rows.filter((row) => !isGone(row));
    return before - this.#rows.length;
  }
}
