import type {
  ClaimedDelivery,
  DueKey,
  KeyClaim,
  KeyClaimOptions,
  KeyWant,
} from '@webhook-backpressure/inbox';
import { expect } from 'vitest';
import type { Row } from './naive-row.ts';
import type { NaiveStore } from './naive-store.ts';

/** Claims by key on the model. */
export class NaiveKeys {
  readonly #store: NaiveStore;
  readonly #isOrdered: boolean;

  constructor(store: NaiveStore, isOrdered: boolean) {
    this.#store = store;
    this.#isOrdered = isOrdered;
  }

  /** Checks the claims of an owner of a store, and claims the same. */
  claim(
    owner: number,
    wants: readonly KeyWant[],
    { leaseMs, nowMs, isNewestFirst = false, maxStranded }: KeyClaimOptions,
    got: readonly KeyClaim[],
  ): ClaimedDelivery[] {
    if (!this.#store.isPaused) this.#store.strandExpired(owner, nowMs);
    expect(got.map(({ key }) => key)).toEqual(wants.map(({ key }) => key));
    for (const [at, { key, count, isHeadOnly, maxHeld = Infinity }] of wants.entries()) {
      const rows = this.#rowsOf(key);
      const held = rows.filter(({ state }) => state === 'claimed').length;
      const next = this.#claimable(rows, isHeadOnly);
      const due = next.filter(
        ({ atMs, strandings }) => atMs <= nowMs && (maxStranded !== 0 || strandings === 0),
      );
      due.sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      const most = Math.max(0, Math.min(count, maxHeld - held));
      const { claimed, nextDueMs } = got[at] as KeyClaim;
      const expected = isNewestFirst ? newestOf(due, claimed, most) : due.slice(0, most);
      expect(claimed.map(({ id, attempt, strandings }) => ({ id, attempt, strandings }))).toEqual(
        expected.map(({ id, attempts, strandings }) => ({ id, attempt: attempts + 1, strandings })),
      );
      for (const row of expected)
        Object.assign(row, {
          state: 'claimed',
          attempts: row.attempts + 1,
          owner,
          leaseEndsMs: nowMs + leaseMs,
        });
      const exact = this.#nextDueMs(rows, isHeadOnly, owner);
      // Some can be claimed now: the store may say any time that has passed.
      if (exact !== undefined && exact <= nowMs) expect(nextDueMs).toBeLessThanOrEqual(nowMs);
      else expect(nextDueMs).toBe(exact);
    }
    return got.flatMap(({ claimed }) => claimed);
  }

  /** Checks the keys that an owner of a store has listed. */
  checkDue(owner: number, nowMs: number, dueByMs: number, got: readonly DueKey[]): void {
    const expected = new Map<string, number>();
    if (!this.#store.isPaused)
      for (const [key, rows] of this.#store.unpaused()) {
        const nextDueMs = this.#nextDueMs(rows, false, owner);
        if (nextDueMs !== undefined && nextDueMs <= dueByMs) expected.set(key, Math.max(nextDueMs, nowMs));
      }
    const rounded = got.map(({ key, nextDueMs }) => [key, Math.max(nextDueMs, nowMs)] as const);
    expect(new Map(rounded)).toEqual(expected);
    expect(got.length).toBe(expected.size);
  }

  #rowsOf(key: string): Row[] {
    return (this.#store.isPaused ? undefined : this.#store.unpaused().get(key)) ?? [];
  }

  #claimable(rows: readonly Row[], isHeadOnly: boolean): Row[] {
    if (!isHeadOnly || this.#isOrdered)
      return rows.filter((row) => row.state === 'waiting' && this.#store.isHead(row));
    if (rows.some(({ state }) => state === 'claimed')) return [];
    return [...rows].sort((a, b) => a.order - b.order).slice(0, 1);
  }

  #nextDueMs(rows: readonly Row[], isHeadOnly: boolean, owner: number): number | undefined {
    const times = [
      ...this.#claimable(rows, isHeadOnly).map(({ atMs }) => atMs),
      ...rows
        .filter((row) => row.state === 'claimed' && row.owner !== owner)
        .map(({ leaseEndsMs }) => leaseEndsMs),
    ];
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** The claimed rows, checked. A store may leave out deliveries that were delayed. */
function newestOf(due: readonly Row[], claimed: readonly ClaimedDelivery[], most: number): readonly Row[] {
  const ids = new Set(claimed.map(({ id }) => id));
  const untried = due.filter(({ attempts, strandings }) => attempts === 0 && strandings === 0).reverse();
  const taken = untried.filter(({ id }) => ids.has(id));
  const lastAt = taken.length < most ? untried.length : untried.indexOf(taken.at(-1) as Row);
  const passed = untried.slice(0, Math.max(0, lastAt)).filter(({ id, isRetry }) => !ids.has(id) && !isRetry);
  expect(passed).toEqual([]);
  expect(taken.length).toBeLessThanOrEqual(most);
  return taken;
}
