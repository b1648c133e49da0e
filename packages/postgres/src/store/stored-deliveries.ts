import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type {
  Counted,
  DeliveryRef,
  ListedCompleted,
  ListedDelivery,
  ListedPending,
  MovedDelivery,
  PageQuery,
  PendingState,
  Portion,
  DeadLetterFilter,
  StoredDeadLetter,
  StoreAdmin,
  StoredCompleted,
  StoredDelivery,
  StoredPage,
  StoredPending,
  StoreStats,
} from '@webhook-backpressure/inbox';
import { deliveryOf, FACTS, factsOf, idHash, type ContentsRow, type FactsRow } from '../records/records.ts';
import { SlowAnswer } from '../queue/slow-scans.ts';
import type { Server } from '../server/server.ts';

interface Death {
  readonly attempts: number;
  readonly reason: 'dead' | 'overflow';
  readonly error: string;
  readonly shelved_ms: number;
}

interface State {
  readonly state: PendingState;
  readonly attempts: number;
  readonly due_ms: number;
}

interface Completion {
  readonly attempts: number;
  readonly completed_ms: number;
}

interface Length {
  readonly body_bytes: number;
}

interface Counts {
  readonly in_flight: number;
  readonly oldest_ms: number | null;
  readonly visited: number;
}

interface Totals extends Omit<StoreStats, 'inFlight' | 'oldestReceivedAtMs'> {
  readonly isOrdered: boolean;
}

type DeathOf = Pick<StoredDeadLetter, 'attempts' | 'reason' | 'error' | 'deadAtMs'>;
type Options<Call extends 'listDeadLetters' | 'listPending' | 'dropCompleted' | 'forget'> = Parameters<
  StoreAdmin[Call]
>[0];
type Moving = DeadLetterFilter & Portion & { readonly upTo?: number | undefined };

/** A table whose rows are listed in the order of `position`. The `values` of `where` begin with `$5`. */
interface PagedTable {
  readonly table: string;
  readonly position: string;
  readonly columns: string;
  readonly where?: string;
  readonly values?: readonly unknown[];
}

/** Restricts rows of `t` to the key `$1` and the id `$2`, if they are not null. */
const SCOPE = '($1::text IS NULL OR t.key = $1) AND ($2::text IS NULL OR t.id = $2)';
const LENGTH = 'octet_length(c.body) AS body_bytes';
const DEATH = 't.attempts, t.reason, t.error, t.shelved_ms';
const DEAD_LETTERS = `${DEATH}, ${FACTS}`;
const DEAD_LETTER_ORDER = 'ORDER BY t.shelved_ms, t.seq';
/** A retry that is due is `ready`, also before a claim has updated its state. */
const pendingAt = (time: string): string =>
  `CASE WHEN t.state = 2 THEN 'active' WHEN t.state = 1 AND t.due_ms > ${time}::double precision THEN 'delayed' ELSE 'ready' END`;

/** A list call scans at most so many rows, so that listing a rare key does not delay other calls. */
const MAX_SCANNED = 2000;

/** What a schema holds, and the calls that need no owner of claims. */
export abstract class StoredDeliveries implements StoreAdmin {
  protected readonly server: Server;
  readonly #counts = new SlowAnswer<Counts>();

  constructor(server: Server) {
    this.server = server;
  }

  /** Called when deliveries have become due. */
  protected abstract announce(): unknown;

  /** Called with the order of the queue. */
  protected foundOrder(_isOrdered: boolean): void {
    // The tool works with any.
  }

  async listDeadLetters({
    limit,
    offset,
    ...scope
  }: Options<'listDeadLetters'>): Promise<readonly ListedDelivery[]> {
    const rows = await this.server.query<FactsRow & Death & Length>(
      `SELECT ${DEAD_LETTERS}, ${LENGTH} ${this.#with('dead_letters')} WHERE ${SCOPE} ${DEAD_LETTER_ORDER} LIMIT $3 OFFSET $4`,
      [...scopeOf(null, scope), limit, offset],
    );
    return rows.map((row) => ({ ...listed(row), ...this.#deathOf(row) }));
  }

  async scanDeadLetters(page: PageQuery): Promise<StoredPage<ListedDelivery>> {
    const rows = await this.#page<Death>({ table: 'dead_letters', position: 'seq', columns: DEATH }, page);
    return { ...rows, deliveries: rows.deliveries.map((row) => ({ ...listed(row), ...this.#deathOf(row) })) };
  }

  async getDeadLetter(id: string, scope: DeadLetterFilter): Promise<StoredDeadLetter | undefined> {
    const [row] = await this.server.query<ContentsRow & Death>(
      `SELECT ${DEAD_LETTERS}, c.body ${this.#with('dead_letters')} WHERE ${SCOPE} ${DEAD_LETTER_ORDER} LIMIT 1`,
      scopeOf(id, scope),
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#deathOf(row) };
  }

  async countDeadLetters(id: string | null, scope: DeadLetterFilter): Promise<Counted> {
    return await this.#count('dead_letters', 'shelved_ms', id, scope);
  }

  async redrive(
    id: string | null,
    { nowMs, ...which }: Moving & { readonly nowMs: number },
  ): Promise<readonly MovedDelivery[]> {
    return await this.#requeue('redrive_v1', id, which, nowMs);
  }

  async purge(
    id: string | null,
    { beforeMs = Infinity, ...which }: Moving & { readonly beforeMs?: number | undefined },
  ): Promise<readonly MovedDelivery[]> {
    return await this.#move('purge_v1', id, which, beforeMs);
  }

  async noteRoom({ depth, bytes }: { readonly depth: number; readonly bytes: number }): Promise<void> {
    await this.server.query(
      `UPDATE ${this.server.schema}.meta SET room_depth = $1, room_bytes = $2
      WHERE room_depth IS DISTINCT FROM $1 OR room_bytes IS DISTINCT FROM $2`,
      [depth, bytes],
    );
  }

  async listPending({ state, nowMs, ...page }: Options<'listPending'>): Promise<StoredPage<ListedPending>> {
    const stateNow = pendingAt('$5');
    const rows = await this.#page<State>(
      {
        table: 'queue',
        position: 'seq',
        columns: `${stateNow} AS state, t.attempts, t.due_ms`,
        where: `($6::text IS NULL OR ${stateNow} = $6)`,
        values: [this.server.skew.toServer(nowMs), state ?? null],
      },
      page,
    );
    return { ...rows, deliveries: rows.deliveries.map((row) => ({ ...listed(row), ...this.#state(row) })) };
  }

  async getPending(ref: DeliveryRef, nowMs: number): Promise<StoredPending | undefined> {
    const { schema, skew } = this.server;
    const [row] = await this.server.query<ContentsRow & State>(
      `SELECT ${pendingAt('$1')} AS state, t.attempts, t.due_ms, ${FACTS}, c.body
      ${this.#with('queue')} JOIN ${schema}.ids i ON i.seq = t.seq WHERE i.hash = $2`,
      [skew.toServer(nowMs), idHash(ref)],
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#state(row) };
  }

  async listCompleted(page: PageQuery): Promise<StoredPage<ListedCompleted>> {
    const columns = 't.attempts, t.completed_ms';
    const rows = await this.#page<Completion>({ table: 'kept', position: 'at', columns }, page);
    return {
      ...rows,
      deliveries: rows.deliveries.map((row) => ({ ...listed(row), ...this.#completion(row) })),
    };
  }

  async getCompleted(id: string, scope: DeadLetterFilter): Promise<StoredCompleted | undefined> {
    const [row] = await this.server.query<ContentsRow & Completion>(
      `SELECT t.attempts, t.completed_ms, ${FACTS}, c.body ${this.#with('kept')}
      WHERE ${SCOPE} ORDER BY t.at DESC LIMIT 1`,
      scopeOf(id, scope),
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#completion(row) };
  }

  async countCompleted(id: string | null, scope: DeadLetterFilter): Promise<Counted> {
    return await this.#count('kept', 'at', id, scope);
  }

  async replay(
    id: string | null,
    { nowMs, ...which }: Moving & { readonly nowMs: number },
  ): Promise<readonly MovedDelivery[]> {
    return await this.#requeue('replay_v1', id, which, nowMs);
  }

  async dropCompleted(options: Options<'dropCompleted'>): Promise<readonly MovedDelivery[]> {
    const { beforeMs, keepBytes, limit, maxBytes } = options;
    const values = [limit, maxBytes, this.server.skew.toServer(beforeMs), keepBytes];
    return (await this.server.rows<MovedDelivery>('drop_kept_v1', values)).map(movedOf);
  }

  async forget({ beforeMs, keep, limit }: Options<'forget'>): Promise<number> {
    const values = [this.server.skew.toServer(beforeMs), keep, limit];
    const answer = await this.server.call<{ forget_v1: string }>('forget_v1', values);
    return Number(answer.forget_v1);
  }

  async forgetId(ref: DeliveryRef): Promise<boolean> {
    const answer = await this.server.call<{ forget_id_v1: boolean }>('forget_id_v1', [idHash(ref)]);
    return answer.forget_id_v1;
  }

  async pause(key: string | null): Promise<boolean> {
    const rows = await this.server.query(
      `INSERT INTO ${this.server.schema}.paused (scope, key) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1`,
      pausedOf(key),
    );
    return rows.length > 0;
  }

  async resume(key: string | null): Promise<boolean> {
    const rows = await this.server.query(
      `DELETE FROM ${this.server.schema}.paused WHERE scope = $1 AND key = $2 RETURNING 1`,
      pausedOf(key),
    );
    if (rows.length > 0) await this.announce();
    return rows.length > 0;
  }

  async depthByKey(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.server.query<{ key: string; depth: number }>(
      `SELECT key, count(*)::double precision AS depth FROM ${this.server.schema}.queue GROUP BY key`,
    );
    return new Map(rows.map(({ key, depth }) => [decodeText(key), depth]));
  }

  async stats(): Promise<StoreStats> {
    const { schema } = this.server;
    const sum = (column: string, name: string): string => `sum(${column})::double precision AS "${name}"`;
    const [row] = await this.server.query<Totals>(
      `SELECT ${sum('depth', 'depth')}, ${sum('bytes', 'bytes')}, ${sum('drained', 'drained')},
        ${sum('shelved', 'deadLetters')}, ${sum('shelved_bytes', 'deadLetterBytes')},
        ${sum('remembered', 'remembered')}, ${sum('kept', 'retained')}, ${sum('kept_bytes', 'retainedBytes')},
        (SELECT is_ordered FROM ${schema}.meta) AS "isOrdered",
        EXISTS (SELECT FROM ${schema}.paused WHERE scope = 'all') AS "isPaused",
        ARRAY(SELECT key FROM ${schema}.paused WHERE scope = 'key') AS "pausedKeys"
      FROM ${schema}.slots_v1()`,
    );
    const { isOrdered, ...totals } = row as Totals;
    this.foundOrder(isOrdered);
    let counts = this.#counts.recent;
    if (counts === undefined) {
      counts = await this.server.call<Counts>('counts_v1', []);
      this.#counts.note(counts, counts.visited);
    }
    return {
      ...totals,
      inFlight: counts.in_flight,
      oldestReceivedAtMs: counts.oldest_ms ?? undefined,
      pausedKeys: totals.pausedKeys.map(decodeText),
    };
  }

  /** The rows of a table as `t`, and their contents as `c`. */
  #with(table: string): string {
    const { schema } = this.server;
    return `FROM ${schema}.${table} t JOIN ${schema}.contents c ON c.seq = t.seq`;
  }

  async #count(
    table: string,
    position: string,
    id: string | null,
    scope: DeadLetterFilter,
  ): Promise<Counted> {
    const [row] = await this.server.query<{ count: number; last: number | null }>(
      `SELECT count(*)::double precision AS count, max(t.${position})::double precision AS last
      FROM ${this.server.schema}.${table} t WHERE ${SCOPE}`,
      scopeOf(id, scope),
    );
    return { count: row?.count ?? 0, upTo: row?.last ?? 0 };
  }

  async #requeue(
    name: 'redrive_v1' | 'replay_v1',
    id: string | null,
    which: Moving,
    nowMs: number,
  ): Promise<readonly MovedDelivery[]> {
    const moved = await this.#move(name, id, which, nowMs);
    if (moved.length > 0) await this.announce();
    return moved;
  }

  /** Moves or deletes the rows of a portion, by a function of the schema. `ms` is its time, by the clock of this machine. */
  async #move(
    name: string,
    id: string | null,
    { limit, maxBytes, upTo = Infinity, ...scope }: Moving,
    ms: number,
  ): Promise<readonly MovedDelivery[]> {
    const [key, encodedId] = scopeOf(id, scope);
    const values = [encodedId, key, limit, maxBytes, upTo, this.server.skew.toServer(ms)];
    return (await this.server.rows<MovedDelivery>(name, values)).map(movedOf);
  }

  async #page<R>(
    { table, position, columns, where = 'true', values = [] }: PagedTable,
    { key, after, limit }: PageQuery,
  ): Promise<StoredPage<FactsRow & Length & R>> {
    const { server } = this;
    const [scanned] = await server.query<{ count: number; last: number | null }>(
      `SELECT count(*)::double precision AS count, max(${position})::double precision AS last FROM (
        SELECT ${position} FROM ${server.schema}.${table} WHERE ${position} > $1
        ORDER BY ${position} LIMIT ${String(MAX_SCANNED)}) p`,
      [after],
    );
    const { count = 0, last = null } = scanned ?? {};
    const rows = await server.query<FactsRow & Length & R & { readonly position: number }>(
      `SELECT t.${position}::double precision AS position, ${columns}, ${LENGTH}, ${FACTS} ${this.#with(table)}
      WHERE t.${position} > $1 AND t.${position} <= $2 AND ($3::text IS NULL OR t.key = $3) AND ${where}
      ORDER BY t.${position} LIMIT $4`,
      [after, last ?? after, key === undefined ? null : encodeText(key), limit + 1, ...values],
    );
    const deliveries = rows.slice(0, limit);
    if (rows.length > limit) return { deliveries, next: deliveries.at(-1)?.position };
    return { deliveries, next: count < MAX_SCANNED ? undefined : (last ?? undefined) };
  }

  #deathOf({ attempts, reason, error, shelved_ms: deadMs }: Death): DeathOf {
    const deadAtMs = this.server.skew.fromServer(deadMs);
    return { attempts, reason, error: decodeText(error), deadAtMs };
  }

  #state({ state, attempts, due_ms: dueMs }: State): Pick<StoredPending, 'state' | 'attempts' | 'dueMs'> {
    return { state, attempts, dueMs: this.server.skew.fromServer(dueMs) };
  }

  #completion({
    attempts,
    completed_ms: ms,
  }: Completion): Pick<StoredCompleted, 'attempts' | 'completedAtMs'> {
    return { attempts, completedAtMs: this.server.skew.fromServer(ms) };
  }
}

/** The values of {@link SCOPE}. */
function scopeOf(id: string | null, { key }: DeadLetterFilter): readonly [string | null, string | null] {
  return [key === undefined ? null : encodeText(key), id === null ? null : encodeText(id)];
}

function listed(row: FactsRow & Length): Omit<StoredDelivery, 'rawBody'> & { readonly bodyBytes: number } {
  return { ...factsOf(row), bodyBytes: row.body_bytes };
}

function movedOf({ key, id, bytes }: MovedDelivery): MovedDelivery {
  return { key: decodeText(key), id: decodeText(id), bytes };
}

function pausedOf(key: string | null): readonly string[] {
  return key === null ? ['all', ''] : ['key', encodeText(key)];
}
