import type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  Put,
  PutResult,
  Settlement,
  StoreLimits,
} from '@webhook-backpressure/inbox';
import { expect } from 'vitest';
import { namesOf, type Row } from './naive-row.ts';

/** One list, which every call reads completely. */
export class NaiveStore {
  #rows: Row[] = [];
  #puts = 0;
  #isPaused = false;
  readonly #pausedKeys = new Set<string>();
  /** When ordered: the head of each key, which may be claimed or is. */
  readonly #heads = new Map<string, Row>();
  readonly #isOrdered: boolean;
  #ends = 0;

  constructor(isOrdered: boolean) {
    this.#isOrdered = isOrdered;
  }

  put(batch: readonly Put[], limits: StoreLimits, nowMs: number): PutResult[] {
    return batch.map(({ delivery: { key, id }, isOverflow }) => {
      if (this.#find({ key, id }) !== undefined) return 'duplicate';
      const rivals = this.#rows.filter(({ state }) =>
        isOverflow ? state === 'deadLetters' : state === 'waiting' || state === 'claimed',
      );
      if (rivals.length >= (isOverflow ? limits.maxDeadLetters : limits.capacity)) return 'full';
      this.#puts += 1;
      const state = isOverflow ? 'deadLetters' : 'waiting';
      const row = { key, id, order: this.#puts, state, attempts: 0, strandings: 0 } as const;
      const fresh = { isKept: false, isRemembered: false, isRetry: false, owner: -1, leaseEndsMs: 0 };
      this.#ends += 1;
      this.#enter({ ...row, ...fresh, atMs: nowMs, endOrder: this.#ends });
      return 'stored';
    });
  }

  /** Checks the deliveries that an owner of a store has claimed, and claims the same. */
  claim(owner: number, count: number, options: ClaimOptions, got: readonly ClaimedDelivery[]): void {
    const { leaseMs, nowMs, maxStranded, except } = options;
    if (this.#isPaused) {
      expect(got).toEqual([]);
      return;
    }
    this.strandExpired(owner, nowMs);
    const due = this.#rows.filter((row) => row.atMs <= nowMs && this.#isOpen(row, except));
    const fresh = due.filter(({ strandings }) => strandings === 0);
    const once = due.filter(({ strandings }) => strandings === 1).length;
    const often = due.length - fresh.length - once;
    const stranded = Math.min(count, maxStranded, once > 0 ? once : Math.min(1, often));
    expect(got.length).toBe(Math.min(count, fresh.length + stranded));
    const taken = got.filter(({ strandings }) => strandings > 0);
    expect(taken.length).toBe(stranded);
    if (once > 0) expect(taken.every(({ strandings }) => strandings === 1)).toBe(true);
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

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The unfinished deliveries, by key, of the keys that are not paused. */
  unpaused(): Map<string, Row[]> {
    const byKey = new Map<string, Row[]>();
    for (const row of this.#rows) {
      const isUnfinished = row.state === 'waiting' || row.state === 'claimed';
      if (!isUnfinished || this.#pausedKeys.has(row.key)) continue;
      byKey.set(row.key, [...(byKey.get(row.key) ?? []), row]);
    }
    return byKey;
  }

  strandExpired(owner: number, nowMs: number): void {
    const isLost = (row: Row): boolean =>
      row.state === 'claimed' && row.owner !== owner && row.leaseEndsMs <= nowMs;
    for (const row of this.#rows.filter(isLost)) {
      row.state = 'waiting';
      row.strandings += 1;
      row.atMs = Math.min(row.atMs, nowMs);
    }
  }

  /** Whether a delivery may be claimed before others of its key: always, if the store is not ordered. */
  isHead(row: Row): boolean {
    return !this.#isOrdered || this.#heads.get(row.key) === row;
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
    if (settlement.as === 'dead') Object.assign(row, { ...ended, state: 'deadLetters' });
    if (settlement.as === 'failed')
      Object.assign(row, { state: 'waiting', atMs: settlement.retryAtMs, isRetry: true });
    if (settlement.as === 'released') {
      const { retryAtMs } = settlement;
      Object.assign(row, {
        state: 'waiting',
        attempts: row.attempts - 1,
        isRetry: retryAtMs !== undefined,
        atMs: retryAtMs ?? Math.min(row.atMs, nowMs),
      });
    }
    if (row.state !== 'waiting') this.#leave(row);
    return true;
  }

  putBack(what: 'redrive' | 'replay', id: string | null, limit: number, nowMs: number): string[] {
    const isThere = (row: Row): boolean => (what === 'redrive' ? row.state === 'deadLetters' : row.isKept);
    const back = this.#ended((row) => isThere(row) && (id === null || row.id === id)).slice(0, limit);
    const fresh = { isKept: false, isRemembered: false, isRetry: false, attempts: 0, strandings: 0 };
    for (const row of back) {
      Object.assign(row, { ...fresh, state: 'waiting', atMs: nowMs });
      this.#line(row);
    }
    return namesOf(back);
  }

  purge(id: string): string[] {
    return this.#remove((row) => row.state === 'deadLetters' && row.id === id);
  }

  drop(beforeMs: number): string[] {
    const dropped = this.#rows.filter((row) => row.isKept && row.atMs < beforeMs);
    for (const row of dropped) row.isKept = false;
    this.#sweep();
    return namesOf(dropped);
  }

  /** Checks that a store has forgotten only the oldest, and none too early. It may keep some longer. */
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

  hasten(afterMs: number, nowMs: number, key?: string): number {
    const late = this.#rows.filter(
      (row) =>
        row.state === 'waiting' &&
        row.atMs > afterMs &&
        (key === undefined || row.key === key) &&
        this.isHead(row),
    );
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

  counts(): Record<string, number | boolean> {
    const count = (...states: readonly string[]): number =>
      this.#rows.filter(({ state }) => states.includes(state)).length;
    return {
      isPaused: this.#isPaused,
      depth: count('waiting', 'claimed'),
      inFlight: count('claimed'),
      deadLetters: count('deadLetters'),
      remembered: this.#rows.filter((row) => row.isRemembered).length,
      retained: this.#rows.filter((row) => row.isKept).length,
    };
  }

  pause(key: string | null): boolean {
    const wasPaused = key === null ? this.#isPaused : this.#pausedKeys.has(key);
    if (key === null) this.#isPaused = true;
    else this.#pausedKeys.add(key);
    return !wasPaused;
  }

  resume(key: string | null): boolean {
    if (key !== null) return this.#pausedKeys.delete(key);
    const wasPaused = this.#isPaused;
    this.#isPaused = false;
    return wasPaused;
  }

  /** Checks `nextDueMs` of a store, which need not be exact for due deliveries, nor skip waiting ones of a paused key. */
  checkDue(owner: number, except: ReadonlySet<string>, nowMs: number, said: number | undefined): void {
    if (this.#isPaused) {
      expect(said).toBeUndefined();
      return;
    }
    const timesOf = (isMeant: (row: Row) => boolean): number[] =>
      this.#rows.flatMap((row) => {
        if (row.state === 'claimed' && row.owner !== owner) return [row.leaseEndsMs];
        return row.state === 'waiting' && isMeant(row) ? [row.atMs] : [];
      });
    const exact = Math.min(...timesOf((row) => this.#isOpen(row, except)));
    if (exact <= nowMs) {
      expect(said).toBeLessThanOrEqual(nowMs);
      return;
    }
    const passed = timesOf((row) => this.isHead(row)).filter((timeMs) => timeMs <= exact);
    expect([exact, ...passed]).toContain(said ?? Infinity);
  }

  #isOpen(row: Row, except: ReadonlySet<string>): boolean {
    const isPassed = except.has(row.key) || this.#pausedKeys.has(row.key);
    return row.state === 'waiting' && !isPassed && this.isHead(row);
  }

  #enter(row: Row): void {
    this.#rows.push(row);
    this.#line(row);
  }

  /** Makes the first delivery of each key its head. */
  #line(row: Row): void {
    if (row.state === 'waiting' && !this.#heads.has(row.key)) this.#heads.set(row.key, row);
  }

  #leave(row: Row): void {
    if (this.#heads.get(row.key) !== row) return;
    const behind = this.#rows.filter(
      ({ key, state }) => key === row.key && (state === 'waiting' || state === 'claimed'),
    );
    const [next] = behind.sort((a, b) => a.order - b.order);
    if (next === undefined) this.#heads.delete(row.key);
    else this.#heads.set(row.key, next);
  }

  #held(owner: number, ref: ClaimRef): Row | undefined {
    const row = this.#find(ref);
    return row?.state === 'claimed' && row.owner === owner && row.attempts === ref.attempt ? row : undefined;
  }

  #find({ key, id }: { readonly key: string; readonly id: string }): Row | undefined {
    return this.#rows.find((row) => row.key === key && row.id === id);
  }

  /** In the order of completion, or of moving to the dead-letter queue. */
  #ended(isMeant: (row: Row) => boolean): Row[] {
    return this.#rows.filter(isMeant).sort((a, b) => a.atMs - b.atMs || a.endOrder - b.endOrder);
  }

  /** Removes deliveries that are neither remembered nor kept. */
  #sweep(): void {
    this.#remove((row) => row.state === 'completed' && !row.isKept && !row.isRemembered);
  }

  #remove(isGone: (row: Row) => boolean): string[] {
    const gone = this.#rows.filter(isGone);
    this.#rows = this.#rows.filter((row) => !gone.includes(row));
    return namesOf(gone);
  }
}
