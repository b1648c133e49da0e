import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type {
  ClaimedDelivery,
  DueKey,
  DueKeys,
  KeyClaim,
  KeyClaimOptions,
  KeyWant,
} from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import type { Value } from '../connection/drivers.ts';
import { isOrdered } from '../tables/order.ts';
import { counted, readPaused, type Totals } from '../tables/totals.ts';
import type { Owners } from './owners.ts';
import { MAX_UNREADABLE, type RowClaims } from './row-claims.ts';

type CandidateRow = readonly [seq: number, ...unknown[]];
type KeyRow = readonly [key: string, readyMs: number, waitingMs: number, suspectMs: number, leaseMs: number];
type HeadRow = readonly [seq: number, dueMs: number, state: number];

/** Which stranded deliveries a call may claim. */
interface SuspectRoom {
  /** How many more. */
  left: number;
  /** How often they may have been stranded. */
  readonly mostStrandings: number;
}

/** A want, with its key as stored. */
type StoredWant = Pick<KeyWant, 'key' | 'count'>;

interface Claimed {
  readonly claimed: readonly ClaimedDelivery[];
  /** When more is due; Infinity for never. */
  readonly dueMs: number;
}

const ANY = Number.MAX_SAFE_INTEGER;

/** The state of a delivery that waits for a retry. */
const WAITING = 1;

/** Bounds the time of a call when very many retries are due, such as after a long outage. */
const MAX_PROMOTED = 1000;

/** A page of keys reads at least so many: with `dueByMs`, most may be left out. */
const MIN_READ = 1000;

const SUSPECTS = 'SELECT seq, due_ms FROM queue INDEXED BY queue_suspect WHERE key = ?1 AND state = 3';
const DUE = dueWith(SUSPECTS);
/** With at most ?4 suspects, which were stranded ?3 times or less. */
const DUE_BESIDE = dueWith(`SELECT * FROM (${SUSPECTS} AND strandings <= ?3 ORDER BY due_ms, seq LIMIT ?4)`);
const FIRST_SUSPECT = 'SELECT 1 FROM queue INDEXED BY queue_suspect WHERE key = ? AND state = 3 LIMIT 1';
const NEWEST = `SELECT seq, due_ms FROM queue INDEXED BY queue_ready WHERE key = ?1 AND state = 0 AND attempts = 0
  ORDER BY due_ms DESC, seq DESC LIMIT ?2`;
const FIRST_RETRY =
  'SELECT 1 FROM queue INDEXED BY queue_waiting WHERE key = ? AND state = 1 AND due_ms <= ? LIMIT 1';
/** Then those that were stranded before count as suspects. */
const PROMOTE = `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END
  WHERE seq IN (
    SELECT seq FROM queue INDEXED BY queue_waiting WHERE key = ? AND state = 1 AND due_ms <= ? ORDER BY due_ms LIMIT ?)`;
const EARLIEST_WAITING = 'SELECT min(due_ms) FROM queue INDEXED BY queue_waiting WHERE state = 1 AND key = ?';
const EARLIEST_LEASE =
  'SELECT min(lease_ms) FROM queue INDEXED BY queue_claimed WHERE state = 2 AND key = ? AND owner <> ?';

const KEYS_FROM = keysWalk('>=');
const KEYS_AFTER = keysWalk('>');

/** Claims deliveries of named keys, and lists keys that have something to claim. */
export class KeyClaims {
  readonly #connection: Connection;
  readonly #owners: Owners;
  readonly #rows: RowClaims;
  /** How many more retries the present call may make due, beside those that it may claim. */
  #promotable = 0;

  constructor(connection: Connection, owners: Owners, rows: RowClaims) {
    this.#connection = connection;
    this.#owners = owners;
    this.#rows = rows;
  }

  claim(self: number, wants: readonly KeyWant[], lease: KeyClaimOptions): readonly KeyClaim[] {
    const { nowMs } = lease;
    return this.#rows.withoutDamaged(nowMs, () =>
      counted(this.#connection, (changes) => {
        const paused = readPaused(this.#connection);
        const pausedKeys = new Set(paused.keys);
        if (!paused.isAll) {
          this.#owners.strandExpired(self, nowMs, changes);
          if (this.#owners.isCheckDue) this.#owners.strandOfDead(self, nowMs, changes);
        }
        const ordered = isOrdered(this.#connection);
        const othersHold = this.#owners.doOthersHold(self);
        const suspects = this.#suspectRoom(lease);
        this.#promotable = MAX_PROMOTED;
        return wants.map(({ key: name, count: most, isHeadOnly, maxHeld }): KeyClaim => {
          const key = encodeText(name);
          if (paused.isAll || pausedKeys.has(key)) return { key: name, claimed: [], nextDueMs: undefined };
          const count = maxHeld === undefined ? most : Math.min(most, Math.max(0, maxHeld - this.#held(key)));
          // In an ordered file only heads are in the states of unclaimed deliveries.
          const { claimed, dueMs } =
            isHeadOnly && !ordered
              ? this.#claimHead(self, { key, count }, lease, changes)
              : this.#claimDue(self, { key, count }, lease, changes, suspects);
          const leaseMs = othersHold ? this.#earliest(EARLIEST_LEASE, [key, self]) : Infinity;
          const nextDueMs = Math.min(dueMs, leaseMs);
          return { key: name, claimed, nextDueMs: nextDueMs === Infinity ? undefined : nextDueMs };
        });
      }),
    );
  }

  /** Undefined if all may be claimed. */
  #suspectRoom({ maxStranded = ANY, maxStrandings = ANY }: KeyClaimOptions): SuspectRoom | undefined {
    const isLimited = maxStranded < ANY || maxStrandings < ANY;
    return isLimited ? { left: maxStranded, mostStrandings: maxStrandings } : undefined;
  }

  #claimDue(
    self: number,
    { key, count }: StoredWant,
    lease: KeyClaimOptions,
    changes: Totals,
    suspects: SuspectRoom | undefined,
  ): Claimed {
    const claimed: ClaimedDelivery[] = [];
    for (let unreadable = 0; unreadable < MAX_UNREADABLE;) {
      const left = count - claimed.length;
      const isNewest = lease.isNewestFirst === true;
      if (!isNewest && this.#connection.get(FIRST_RETRY, [key, lease.nowMs]) !== undefined) {
        const most = Math.max(left + 1, this.#promotable);
        this.#promotable -= this.#connection.run(PROMOTE, [key, lease.nowMs, most]);
      }
      // One more than is claimed, to know when it is due.
      const rows = (
        isNewest
          ? this.#connection.all(NEWEST, [key, left])
          : suspects === undefined
            ? this.#connection.all(DUE, [key, left + 1])
            : this.#connection.all(DUE_BESIDE, [key, left + 1, suspects.mostStrandings, suspects.left])
      ) as CandidateRow[];
      const next = rows.slice(0, left);
      const taken = next.map(([seq]) => this.#rows.take([seq, key], self, lease, changes));
      const begun = taken.filter((one) => one !== undefined);
      claimed.push(...begun);
      if (suspects !== undefined) suspects.left -= begun.filter(({ strandings }) => strandings > 0).length;
      const lost = taken.filter((one) => one === undefined).length;
      if (lost === 0) {
        const isMore =
          rows.length > left ||
          // Not by get: libsql 0.5 runs a statement that all() has run with the values of then.
          (isNewest && this.#connection.all(DUE, [key, 1]).length > 0) ||
          (suspects !== undefined && this.#connection.get(FIRST_SUSPECT, [key]) !== undefined);
        return { claimed, dueMs: isMore ? lease.nowMs : this.#earliest(EARLIEST_WAITING, [key]) };
      }
      unreadable += lost;
    }
    return { claimed, dueMs: lease.nowMs };
  }

  #claimHead(self: number, { key }: StoredWant, lease: KeyClaimOptions, changes: Totals): Claimed {
    const anyClaimed = this.#connection.get(
      'SELECT 1 FROM queue INDEXED BY queue_claimed WHERE state = 2 AND key = ? LIMIT 1',
      [key],
    );
    if (anyClaimed !== undefined) return { claimed: [], dueMs: Infinity };
    for (let unreadable = 0; unreadable < MAX_UNREADABLE; unreadable += 1) {
      const row = this.#connection.get(
        `SELECT seq, due_ms, state FROM queue INDEXED BY queue_key WHERE key = ? AND +state IN (0, 1, 3)
        ORDER BY seq LIMIT 1`,
        [key],
      ) as HeadRow | undefined;
      if (row === undefined) return { claimed: [], dueMs: Infinity };
      const [seq, dueMs, state] = row;
      if (state === WAITING && dueMs > lease.nowMs) return { claimed: [], dueMs };
      const taken = this.#rows.take([seq, key], self, lease, changes);
      if (taken !== undefined) return { claimed: [taken], dueMs: Infinity };
    }
    return { claimed: [], dueMs: lease.nowMs };
  }

  /** Lists keys in the order of the stored keys. */
  due(
    self: number,
    {
      after,
      limit,
      dueByMs,
    }: { readonly after: string | undefined; readonly limit: number; readonly dueByMs: number },
  ): DueKeys {
    const paused = readPaused(this.#connection);
    if (paused.isAll) return { keys: [], next: undefined };
    const pausedKeys = new Set(paused.keys);
    const most = Math.max(limit, MIN_READ);
    const dead = JSON.stringify(this.#owners.deadHolders(self));
    const query = after === undefined ? KEYS_FROM : KEYS_AFTER;
    const rows = this.#connection.all(query, [after ?? '', self, dead, most]) as KeyRow[];
    const keys: DueKey[] = [];
    for (const [at, [key, ...times]] of rows.entries()) {
      const nextDueMs = Math.min(...times);
      if (nextDueMs === Infinity || nextDueMs > dueByMs || pausedKeys.has(key)) continue;
      keys.push({ key: decodeText(key), nextDueMs });
      if (keys.length === limit && at < rows.length - 1) return { keys, next: key };
    }
    return { keys, next: rows.length === most ? rows.at(-1)?.[0] : undefined };
  }

  /** Claims of a key, by all owners. */
  #held(key: string): number {
    const [held] = this.#connection.get(
      'SELECT count(*) FROM queue INDEXED BY queue_claimed WHERE state = 2 AND key = ?',
      [key],
    ) as [number];
    return held;
  }

  #earliest(sql: string, values: readonly Value[]): number {
    return (this.#connection.get(sql, values) as [number | null])[0] ?? Infinity;
  }
}

/** All are due now. Each part is in the order of its index, so SQLite merges them and reads no more rows than it returns. */
function dueWith(suspects: string): string {
  return `SELECT seq, due_ms FROM queue INDEXED BY queue_ready WHERE key = ?1 AND state = 0
    UNION ALL ${suspects}
    ORDER BY due_ms, seq LIMIT ?2`;
}

/** Walks from key to key, whatever each of them has. The claims of dead owners, a parameter, can be taken now. */
function keysWalk(start: string): string {
  const first = (column: string, index: string, condition: string): string =>
    `coalesce((SELECT min(${column}) FROM queue INDEXED BY ${index} WHERE key = walk.key AND ${condition}), 9e999)`;
  // Due whatever their time says: the clock may have been set back since.
  const now = (index: string, condition: string): string =>
    `iif(EXISTS (SELECT 1 FROM queue INDEXED BY ${index} WHERE key = walk.key AND ${condition}), 0, 9e999)`;
  const lease = 'CASE WHEN owner IN (SELECT value FROM json_each(?3)) THEN 0 ELSE lease_ms END';
  return `WITH RECURSIVE walk(key) AS (
    SELECT min(key) FROM queue INDEXED BY queue_key WHERE key ${start} ?1
    UNION ALL
    SELECT (SELECT min(key) FROM queue INDEXED BY queue_key WHERE queue.key > walk.key) FROM walk
    WHERE walk.key IS NOT NULL
  )
  SELECT key,
    ${now('queue_ready', 'state = 0')},
    ${first('due_ms', 'queue_waiting', 'state = 1')},
    ${now('queue_suspect', 'state = 3')},
    ${first(lease, 'queue_claimed', 'state = 2 AND owner <> ?2')}
  FROM walk WHERE key IS NOT NULL LIMIT ?4`;
}
