import type { ClaimedDelivery, KeyClaim, KeyWant } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { Order } from '../tables/order.ts';
import { Pauses } from '../tables/pauses.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';
import type { Owners } from './owners.ts';
import { MAX_UNREADABLE, type RowClaims } from './row-claims.ts';

interface Lease {
  readonly leaseMs: number;
  readonly nowMs: number;
}

type CandidateRow = readonly [seq: number, dueMs: number];
type HeadRow = readonly [...CandidateRow, state: number];

/** A want, with its key as stored. */
type StoredWant = Pick<KeyWant, 'key' | 'count'>;

interface Claimed {
  readonly claimed: readonly ClaimedDelivery[];
  /** When more is due; Infinity for never. */
  readonly dueMs: number;
}

/** The state of a delivery that waits for a retry. */
const WAITING = 1;

/** Claims deliveries of named keys. */
export class KeyClaims {
  readonly #totals: Totals;
  readonly #owners: Owners;
  readonly #rows: RowClaims;
  readonly #order: Order;
  readonly #pauses: Pauses;
  readonly #due: Statement;
  readonly #anyClaimed: Statement;
  readonly #head: Statement;
  readonly #earliestWaiting: Statement;
  readonly #earliestLease: Statement;

  constructor(connection: Connection, totals: Totals, owners: Owners, rows: RowClaims) {
    this.#totals = totals;
    this.#owners = owners;
    this.#rows = rows;
    this.#order = new Order(connection);
    this.#pauses = new Pauses(connection);
    // Each part is in the order of its index, so SQLite merges them and reads no more rows than it returns.
    const due = (index: string, condition: string): string =>
      `SELECT seq, due_ms FROM queue INDEXED BY ${index} WHERE key = ?1 AND ${condition}`;
    this.#due = connection.prepare(
      `${due('queue_ready', 'state = 0')}
      UNION ALL ${due('queue_waiting', 'state = 1 AND due_ms <= ?2')}
      UNION ALL ${due('queue_suspect', 'state = 3')}
      ORDER BY due_ms, seq LIMIT ?3`,
    );
    this.#anyClaimed = connection.prepare(
      'SELECT 1 FROM queue INDEXED BY queue_claimed WHERE state = 2 AND key = ? LIMIT 1',
    );
    this.#head = connection.prepare(
      `SELECT seq, due_ms, state FROM queue INDEXED BY queue_key WHERE key = ? AND +state IN (0, 1, 3)
      ORDER BY seq LIMIT 1`,
    );
    this.#earliestWaiting = connection.prepare(
      'SELECT min(due_ms) FROM queue INDEXED BY queue_waiting WHERE state = 1 AND key = ?',
    );
    this.#earliestLease = connection.prepare(
      'SELECT min(lease_ms) FROM queue INDEXED BY queue_claimed WHERE state = 2 AND key = ? AND owner <> ?',
    );
  }

  claim(self: number, wants: readonly KeyWant[], lease: Lease): readonly KeyClaim[] {
    const { nowMs } = lease;
    return this.#rows.withoutDamaged(nowMs, () =>
      this.#totals.transaction((changes) => {
        const paused = this.#pauses.read();
        const pausedKeys = new Set(paused.keys);
        if (!paused.isAll) {
          this.#owners.strandExpired(self, nowMs, changes);
          if (this.#owners.isCheckDue) this.#owners.strandOfDead(self, nowMs, changes);
        }
        const isOrdered = this.#order.isOrdered();
        const othersHold = this.#owners.doOthersHold(self);
        return wants.map(({ key: name, count, isHeadOnly }): KeyClaim => {
          const key = encodeText(name);
          if (paused.isAll || pausedKeys.has(key)) return { key: name, claimed: [], nextDueMs: undefined };
          // In an ordered file only heads are in the states of unclaimed deliveries.
          const { claimed, dueMs } =
            isHeadOnly && !isOrdered
              ? this.#claimHead(self, { key, count }, lease, changes)
              : this.#claimDue(self, { key, count }, lease, changes);
          const leaseMs = othersHold ? firstOf(this.#earliestLease.get([key, self])) : Infinity;
          const nextDueMs = Math.min(dueMs, leaseMs);
          return { key: name, claimed, nextDueMs: nextDueMs === Infinity ? undefined : nextDueMs };
        });
      }),
    );
  }

  #claimDue(self: number, { key, count }: StoredWant, lease: Lease, changes: Changes): Claimed {
    const claimed: ClaimedDelivery[] = [];
    for (let unreadable = 0; unreadable < MAX_UNREADABLE;) {
      const left = count - claimed.length;
      // One more than is claimed, to know when it is due.
      const rows = this.#due.all([key, lease.nowMs, left + 1]) as CandidateRow[];
      const next = rows.slice(0, left);
      const taken = next.map(([seq]) => this.#rows.take([seq, key], self, lease, changes));
      claimed.push(...taken.filter((one) => one !== undefined));
      const lost = taken.filter((one) => one === undefined).length;
      if (lost === 0) return { claimed, dueMs: rows[left]?.[1] ?? firstOf(this.#earliestWaiting.get([key])) };
      unreadable += lost;
    }
    return { claimed, dueMs: lease.nowMs };
  }

  #claimHead(self: number, { key }: StoredWant, lease: Lease, changes: Changes): Claimed {
    if (this.#anyClaimed.get([key]) !== undefined) return { claimed: [], dueMs: Infinity };
    for (let unreadable = 0; unreadable < MAX_UNREADABLE; unreadable += 1) {
      const row = this.#head.get([key]) as HeadRow | undefined;
      if (row === undefined) return { claimed: [], dueMs: Infinity };
      const [seq, dueMs, state] = row;
      if (state === WAITING && dueMs > lease.nowMs) return { claimed: [], dueMs };
      const taken = this.#rows.take([seq, key], self, lease, changes);
      if (taken !== undefined) return { claimed: [taken], dueMs: Infinity };
    }
    return { claimed: [], dueMs: lease.nowMs };
  }
}

function firstOf(row: unknown): number {
  return (row as [number | null])[0] ?? Infinity;
}
