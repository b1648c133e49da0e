import type { ClaimedDelivery, ClaimOptions } from '@webhook-backpressure/core';
import type { Connection, Statement } from '../file/connection.ts';
import { CONTENTS, deliveryOf, isIntact, type ContentsRow } from './contents.ts';
import { isDamage } from '../file/failure.ts';
import { Order } from './order.ts';
import type { Owners } from '../file/owners.ts';
import { Pauses, type Paused } from './pauses.ts';
import { encodeText } from './text.ts';
import type { Changes, Totals } from './totals.ts';
import { Unreadable } from './unreadable.ts';

/**
 * With more waiting than can be claimed there is no hurry to find out whether another owner has died; with less, it is
 * looked at every time.
 */
const LOOK_FOR_DEAD_MS = 1000;

/** After a long night very many retries may be due, and the process stands still until they are all moved. */
const PROMOTED_AT_ONCE = 1000;

/** A row of the queue: its place, and its key as it is stored. */
type QueueRow = readonly [seq: number, key: string];
type ReadyRow = readonly [...QueueRow, dueMs: number];
type SuspectRow = readonly [...ReadyRow, strandings: number];

const NO_KEYS: ReadonlySet<string> = new Set();
/** The same where very many rows cannot be read. */
const BURIED_AT_ONCE = 100;

/** Hands out what is due, the keys in turn. */
export class Claims {
  readonly #totals: Totals;
  readonly #owners: Owners;
  readonly #unreadable: Unreadable;
  readonly #order: Order;
  readonly #pauses: Pauses;
  readonly #promote: Statement;
  readonly #readyAfter: Statement;
  readonly #firstReady: Statement;
  readonly #readyOf: Statement;
  readonly #keyAfter: Statement;
  readonly #firstKey: Statement;
  readonly #firstSuspect: Statement;
  readonly #suspects: Statement;
  readonly #hold: Statement;
  readonly #contents: Statement;
  readonly #earliestDue: Statement;
  readonly #earliestWaiting: Statement;
  readonly #earliestLease: Statement;
  /** Whose turn it was last, as it is stored. */
  #lastKey = '';
  #lookedForDeadAt = -Infinity;
  /** Whose row is being read: it meets the damage, if one is met then. */
  #reading: QueueRow | undefined;

  constructor(connection: Connection, totals: Totals, owners: Owners) {
    this.#totals = totals;
    this.#owners = owners;
    this.#unreadable = new Unreadable(connection, totals);
    this.#order = new Order(connection);
    this.#pauses = new Pauses(connection);
    this.#promote = connection.prepare(
      `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END
      WHERE seq IN (SELECT seq FROM queue WHERE state = 1 AND due_ms <= ? ORDER BY due_ms LIMIT ?)`,
    );
    const ready = (condition: string): string =>
      `SELECT seq, key, due_ms FROM queue INDEXED BY queue_ready WHERE state = 0 ${condition} ORDER BY key, due_ms, seq LIMIT 1`;
    this.#readyAfter = connection.prepare(ready('AND key > ?'));
    this.#firstReady = connection.prepare(ready(''));
    this.#readyOf = connection.prepare(ready('AND key = ?'));
    // From key to key, as long as they are to be passed over: the list of them is the last parameter.
    const next = (condition: string): string =>
      `SELECT min(key) FROM queue INDEXED BY queue_ready WHERE state = 0 ${condition}`;
    const passing = (condition: string, list: string): string =>
      `WITH RECURSIVE
        passed(key) AS MATERIALIZED (SELECT value FROM json_each(${list})),
        walk(key) AS (
          ${next(condition)}
          UNION ALL
          SELECT (${next('AND queue.key > walk.key')}) FROM walk WHERE walk.key IN (SELECT key FROM passed)
        )
      SELECT key FROM walk WHERE key NOT IN (SELECT key FROM passed) LIMIT 1`;
    this.#keyAfter = connection.prepare(passing('AND key > ?1', '?2'));
    this.#firstKey = connection.prepare(passing('', '?1'));
    this.#firstSuspect = connection.prepare('SELECT 1 FROM queue WHERE state = 3 LIMIT 1');
    // No more than were in hand when processes died.
    this.#suspects = connection.prepare(
      'SELECT seq, key, due_ms, strandings FROM queue WHERE state = 3 ORDER BY due_ms, seq',
    );
    this.#hold = connection.prepare(
      `UPDATE queue SET state = 2, owner = ?, lease_ms = ?, attempts = attempts + 1 WHERE seq = ?
      RETURNING attempts, strandings`,
    );
    this.#contents = connection.prepare(`SELECT ${CONTENTS} FROM contents c WHERE seq = ?`);
    const earliest = (state: number): string =>
      `SELECT min(due_ms) AS due FROM queue WHERE state = ${String(state)}`;
    this.#earliestDue = connection.prepare(
      `SELECT min(due) FROM (${[0, 1, 3].map(earliest).join(' UNION ALL ')})`,
    );
    this.#earliestWaiting = connection.prepare(earliest(1));
    this.#earliestLease = connection.prepare(
      'SELECT min(lease_ms) FROM queue INDEXED BY queue_held WHERE state = 2 AND owner <> ?',
    );
  }

  claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    for (let buried = 0; ; buried += 1) {
      try {
        return this.#claim(self, count, options);
      } catch (error) {
        const row = this.#reading;
        this.#reading = undefined;
        if (!isDamage(error) || row === undefined || buried === BURIED_AT_ONCE) throw error;
        this.#unreadable.buryDamaged(row[0], options.nowMs, () => {
          this.#left(row, options.nowMs);
        });
      }
    }
  }

  #claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    const { nowMs, maxStranded, except } = options;
    // A handler that kills the process has used its attempt.
    return this.#totals.transaction((changes) => {
      const paused = this.#pauses.read();
      if (paused.isAll) return [];
      const passed = passedOver(paused, except);
      this.#promote.run([nowMs, Math.max(count, PROMOTED_AT_ONCE)]);
      this.#owners.strandExpired(self, nowMs, changes);
      let isLookDue = performance.now() - this.#lookedForDeadAt >= LOOK_FOR_DEAD_MS;
      if (isLookDue) this.#lookForDead(self, nowMs, changes);

      const claimed: ClaimedDelivery[] = [];
      let buried = 0;
      const take = (row: QueueRow): boolean => {
        const taken = this.#take(row, self, options, changes);
        if (taken === undefined) buried += 1;
        else claimed.push(taken);
        return taken !== undefined;
      };
      let suspectRoom = Math.min(maxStranded, count);
      let mayHaveSuspects = true;
      while (claimed.length < count && buried < BURIED_AT_ONCE) {
        if (mayHaveSuspects && suspectRoom > 0) {
          const rows = this.#nextSuspects(suspectRoom, passed);
          if (rows.filter(take).length > 0) suspectRoom = 0;
          // What could not be read is on the shelf now, and another may be behind it.
          mayHaveSuspects = rows.length > 0;
          continue;
        }
        const next = this.#takeTurn(passed);
        if (next !== undefined) {
          take(next);
        } else if (isLookDue) {
          break;
        } else {
          isLookDue = true;
          if (this.#lookForDead(self, nowMs, changes) === 0) break;
          mayHaveSuspects = true;
        }
      }
      return claimed;
    });
  }

  /** When something can be claimed next, in ms since 1970. */
  nextDueMs(self: number, except: ReadonlySet<string> = NO_KEYS): number | undefined {
    const paused = this.#pauses.read();
    if (paused.isAll) return undefined;
    const due = this.#nextDue(passedOver(paused, except));
    const [lease] = this.#earliestLease.get([self]) as [number | null];
    if (lease !== null && this.#owners.hasLeft(self)) return 0;
    const next = Math.min(due, lease ?? Infinity);
    return next === Infinity ? undefined : next;
  }

  #nextDue(passed: ReadonlySet<string>): number {
    if (passed.size === 0) return (this.#earliestDue.get([]) as [number | null])[0] ?? Infinity;
    const ready = this.#findReady(passed);
    if (ready !== undefined) return ready[2];
    // Of keys to pass over as well: to leave them out, all that waits of them would have to be read. Once its time has
    // come a claim has made it ready, so it is looked at once in vain.
    const [waiting] = this.#earliestWaiting.get([]) as [number | null];
    const suspect = (this.#suspects.all([]) as SuspectRow[]).find(([, key]) => !passed.has(key));
    return Math.min(waiting ?? Infinity, suspect?.[2] ?? Infinity);
  }

  #lookForDead(self: number, nowMs: number, changes: Changes): number {
    this.#lookedForDeadAt = performance.now();
    return this.#owners.strandOfDead(self, nowMs, changes);
  }

  /** Those stranded once, up to `room`; where there are none, one of the others, which is tried alone. */
  #nextSuspects(room: number, passed: ReadonlySet<string>): readonly QueueRow[] {
    if (this.#firstSuspect.get([]) === undefined) return [];
    const rows = (this.#suspects.all([]) as SuspectRow[]).filter(([, key]) => !passed.has(key));
    const once = rows.filter(([, , , strandings]) => strandings === 1);
    const next = once.length > 0 ? once.slice(0, room) : rows.slice(0, 1);
    return next.map(([seq, key]) => [seq, key]);
  }

  #takeTurn(passed: ReadonlySet<string>): QueueRow | undefined {
    const next = this.#findReady(passed);
    if (next === undefined) return undefined;
    const [seq, key] = next;
    this.#lastKey = key;
    return [seq, key];
  }

  /** The one that is due of the key after the last one, in the order of the keys and then from the start again. */
  #findReady(passed: ReadonlySet<string>): ReadyRow | undefined {
    if (passed.size === 0) {
      const next = this.#readyAfter.get([this.#lastKey]) ?? this.#firstReady.get([]);
      return next as ReadyRow | undefined;
    }
    const list = JSON.stringify([...passed]);
    const next = this.#keyAfter.get([this.#lastKey, list]) ?? this.#firstKey.get([list]);
    if (next === undefined) return undefined;
    const [key] = next as [string];
    return this.#readyOf.get([key]) as ReadyRow | undefined;
  }

  #take(
    place: QueueRow,
    self: number,
    { leaseMs, nowMs }: ClaimOptions,
    changes: Changes,
  ): ClaimedDelivery | undefined {
    const [seq] = place;
    this.#reading = place;
    const row = this.#contents.get([seq]) as ContentsRow | undefined;
    this.#reading = undefined;
    if (row === undefined || !isIntact(row)) {
      this.#unreadable.bury(seq, nowMs, changes);
      this.#left(place, nowMs);
      return undefined;
    }
    const [attempt, strandings] = this.#hold.get([self, nowMs + leaseMs, seq]) as [number, number];
    changes.inFlight += 1;
    return { ...deliveryOf(row), attempt, strandings };
  }

  /** One has left the queue without having been claimed. */
  #left([seq, key]: QueueRow, nowMs: number): void {
    if (this.#order.isOrdered()) this.#order.ended(seq, key, nowMs);
  }
}

/** The keys that are passed over, as they are stored. */
function passedOver({ keys }: Paused, except: ReadonlySet<string>): ReadonlySet<string> {
  if (keys.length === 0 && except.size === 0) return NO_KEYS;
  const passed = new Set(keys);
  for (const key of except) passed.add(encodeText(key));
  return passed;
}
