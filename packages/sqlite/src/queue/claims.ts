import { encodeText } from '@webhook-backpressure/inbox/store';
import type { ClaimedDelivery, ClaimOptions } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import { counted, readPaused, type Paused } from '../tables/totals.ts';
import type { Owners } from './owners.ts';
import { MAX_UNREADABLE, type QueueRow, type RowClaims } from './row-claims.ts';

/** Bounds the time of a claim when very many retries are due, such as after a long outage. */
const MAX_PROMOTED = 1000;

type SuspectRow = readonly [...QueueRow, strandings: number];

const NO_KEYS: ReadonlySet<string> = new Set();

const PROMOTE = `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END
  WHERE seq IN (
    SELECT seq FROM queue INDEXED BY queue_retries WHERE state = 1 AND due_ms <= ? ORDER BY due_ms LIMIT ?)`;
/** Usually none is, and a statement that would change none takes 40 times as long. */
const IS_RETRY_DUE = 'SELECT 1 FROM queue INDEXED BY queue_retries WHERE state = 1 AND due_ms <= ? LIMIT 1';
const READY_AFTER = ready('AND key > ?');
const FIRST_READY = ready('');
const READY_OF = ready('AND key = ?');
const KEY_AFTER = keySkipping('AND key > ?1', '?2');
const FIRST_KEY = keySkipping('', '?1');
/** At most as many as were being handled when processes died. */
const SUSPECTS =
  'SELECT seq, key, strandings FROM queue INDEXED BY queue_suspect WHERE state = 3 ORDER BY due_ms, seq';
const EARLIEST_WAITING = 'SELECT min(due_ms) FROM queue INDEXED BY queue_retries WHERE state = 1';

/** Claims due deliveries, from the keys in turn. */
export class Claims {
  readonly #connection: Connection;
  readonly #owners: Owners;
  readonly #rows: RowClaims;
  /** The key claimed last, as stored. */
  #lastKey = '';

  constructor(connection: Connection, owners: Owners, rows: RowClaims) {
    this.#connection = connection;
    this.#owners = owners;
    this.#rows = rows;
  }

  claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    return this.#rows.withoutDamaged(options.nowMs, () => this.#claim(self, count, options));
  }

  #claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    const { nowMs, maxStranded, except } = options;
    // The claim counts the attempt, so a handler that crashes the process uses it up.
    return counted(this.#connection, (changes) => {
      const paused = readPaused(this.#connection);
      if (paused.isAll) return [];
      const skipped = skippedKeys(paused, except);
      if (this.#connection.get(IS_RETRY_DUE, [nowMs]) !== undefined)
        this.#connection.run(PROMOTE, [nowMs, Math.max(count, MAX_PROMOTED)]);
      this.#owners.strandExpired(self, nowMs, changes);
      let { isCheckDue } = this.#owners;
      if (isCheckDue) this.#owners.strandOfDead(self, nowMs, changes);

      const claimed: ClaimedDelivery[] = [];
      let unreadable = 0;
      const take = (row: QueueRow): boolean => {
        const taken = this.#rows.take(row, self, options, changes);
        if (taken === undefined) unreadable += 1;
        else claimed.push(taken);
        return taken !== undefined;
      };
      let suspectRoom = Math.min(maxStranded, count);
      let mayHaveSuspects = true;
      while (claimed.length < count && unreadable < MAX_UNREADABLE) {
        if (mayHaveSuspects && suspectRoom > 0) {
          const rows = this.#nextSuspects(suspectRoom, skipped);
          if (rows.filter(take).length > 0) suspectRoom = 0;
          // Unreadable ones are dead letters now, and another suspect may follow.
          mayHaveSuspects = rows.length > 0;
          continue;
        }
        const next = this.#findReady(skipped);
        if (next !== undefined) {
          [, this.#lastKey] = next;
          take(next);
        } else if (isCheckDue) {
          break;
        } else {
          isCheckDue = true;
          if (this.#owners.strandOfDead(self, nowMs, changes) === 0) break;
          mayHaveSuspects = true;
        }
      }
      return claimed;
    });
  }

  /** When the next delivery can be claimed, in ms since 1970. 0: now. */
  nextDueMs(self: number, except: ReadonlySet<string> = NO_KEYS): number | undefined {
    const paused = readPaused(this.#connection);
    if (paused.isAll) return undefined;
    const due = this.#nextDue(skippedKeys(paused, except));
    const [lease] = this.#connection.get(
      'SELECT min(lease_ms) FROM queue INDEXED BY queue_held WHERE state = 2 AND owner <> ?',
      [self],
    ) as [number | null];
    if (lease !== null && this.#owners.deadHolders(self).length > 0) return 0;
    const next = Math.min(due, lease ?? Infinity);
    return next === Infinity ? undefined : next;
  }

  #nextDue(skipped: ReadonlySet<string>): number {
    if (this.#findReady(skipped) !== undefined) return 0;
    if ((this.#connection.all(SUSPECTS) as SuspectRow[]).some(([, key]) => !skipped.has(key))) return 0;
    // Includes retries of skipped keys, since excluding them would require reading all retries. When one of them is due, a
    // claim makes it ready, so this causes at most one useless claim.
    const [waiting] = this.#connection.get(EARLIEST_WAITING) as [number | null];
    return waiting ?? Infinity;
  }

  /** Up to `room` suspects stranded once. If there are none, one of the others, which is tried alone. */
  #nextSuspects(room: number, skipped: ReadonlySet<string>): readonly QueueRow[] {
    const rows = (this.#connection.all(SUSPECTS) as SuspectRow[]).filter(([, key]) => !skipped.has(key));
    const once = rows.filter(([, , strandings]) => strandings === 1);
    const next = once.length > 0 ? once.slice(0, room) : rows.slice(0, 1);
    return next.map(([seq, key]) => [seq, key]);
  }

  /** The first ready delivery of the key after the last one, in the order of the keys, starting over at the end. */
  #findReady(skipped: ReadonlySet<string>): QueueRow | undefined {
    if (skipped.size === 0) {
      const next = this.#connection.get(READY_AFTER, [this.#lastKey]) ?? this.#connection.get(FIRST_READY);
      return next as QueueRow | undefined;
    }
    const list = JSON.stringify([...skipped]);
    const next =
      this.#connection.get(KEY_AFTER, [this.#lastKey, list]) ?? this.#connection.get(FIRST_KEY, [list]);
    if (next === undefined) return undefined;
    const [key] = next as [string];
    return this.#connection.get(READY_OF, [key]) as QueueRow | undefined;
  }
}

/** The keys to skip, as stored. */
function skippedKeys({ keys }: Paused, except: ReadonlySet<string>): ReadonlySet<string> {
  if (keys.length === 0 && except.size === 0) return NO_KEYS;
  const skipped = new Set(keys);
  for (const key of except) skipped.add(encodeText(key));
  return skipped;
}

function ready(condition: string): string {
  return `SELECT seq, key FROM queue INDEXED BY queue_ready WHERE state = 0 ${condition} ORDER BY key, due_ms, seq LIMIT 1`;
}

/** Walks from key to key until one is not in the list of keys to skip, the last parameter. */
function keySkipping(condition: string, list: string): string {
  const next = (of: string): string =>
    `SELECT min(key) FROM queue INDEXED BY queue_ready WHERE state = 0 ${of}`;
  return `WITH RECURSIVE
    skipped(key) AS MATERIALIZED (SELECT value FROM json_each(${list})),
    walk(key) AS (
      ${next(condition)}
      UNION ALL
      SELECT (${next('AND queue.key > walk.key')}) FROM walk WHERE walk.key IN (SELECT key FROM skipped)
    )
  SELECT key FROM walk WHERE key NOT IN (SELECT key FROM skipped) LIMIT 1`;
}
