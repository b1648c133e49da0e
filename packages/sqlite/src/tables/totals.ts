import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type { StoreStats } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';

/** The numbers of deliveries in each state, or how much a transaction changes them. */
export interface Totals {
  depth: number;
  inFlight: number;
  bytes: number;
  deadLetters: number;
  deadLetterBytes: number;
  remembered: number;
  retained: number;
  retainedBytes: number;
  /** Deliveries that left the queue: completed, or dead letters. */
  drained: number;
}

/** The low-water mark: up to here the command-line tool, which has no inbox, puts deliveries back into the queue. */
export interface Room {
  readonly depth: number;
  readonly bytes: number;
}

/** The active pauses of the inbox and of single keys, which all processes obey. */
export interface Paused {
  readonly isAll: boolean;
  /** Encoded as stored. */
  readonly keys: readonly string[];
}

/** The size of a delivery whose row cannot be read is unknown, so an empty queue sets the bytes to 0. */
const ADD = `UPDATE totals SET depth = depth + ?1, in_flight = in_flight + ?2,
  bytes = CASE WHEN depth + ?1 = 0 THEN 0 ELSE bytes + ?3 END,
  shelved = shelved + ?4, shelved_bytes = shelved_bytes + ?5, remembered = remembered + ?6,
  kept = kept + ?7, kept_bytes = kept_bytes + ?8, drained = drained + ?9`;
/** In the order of {@link Totals}. */
const COLUMNS = 'depth, in_flight, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained';
const READ = `SELECT ${COLUMNS} FROM totals`;
/** No total is so large. */
const IMPOSSIBLE = 2 ** 50;
const bytesOf = (table: string): string =>
  `(SELECT CAST(total(min(c.bytes, ${String(IMPOSSIBLE)})) AS INTEGER) FROM ${table} t JOIN contents c ON c.seq = t.seq)`;
const COUNT = `UPDATE totals SET depth = (SELECT count(*) FROM queue),
  in_flight = (SELECT count(*) FROM queue WHERE state = 2), bytes = ${bytesOf('queue')},
  shelved = (SELECT count(*) FROM shelf), shelved_bytes = ${bytesOf('shelf')},
  remembered = (SELECT count(*) FROM remembered),
  kept = (SELECT count(*) FROM kept), kept_bytes = ${bytesOf('kept')}, drained = 0
  WHERE max(${COLUMNS}) > ${String(IMPOSSIBLE)} OR min(${COLUMNS}) < -${String(IMPOSSIBLE)}`;
/**
 * Among those that were stored first. Deliveries are stored at most seconds after they were received, so none of the others is
 * older. All numbers are above 0: the condition makes the plan a search, not a scan of the table.
 */
const OLDEST =
  'SELECT min(received_ms) FROM (SELECT received_ms FROM queue WHERE seq > 0 ORDER BY seq LIMIT 1000)';
const NOTHING_PAUSED: Paused = { isAll: false, keys: [] };

/** Counts again if a total is impossible: damaged, or changed by another program. Call it within a transaction. */
export function repairTotals(connection: Connection): void {
  connection.run(COUNT);
}

export function readTotals(connection: Connection): Totals {
  return totalsOf(connection.get(READ) as number[]);
}

function totalsOf(row: readonly number[]): Totals {
  const [depth = 0, inFlight = 0, bytes = 0, deadLetters = 0, deadLetterBytes = 0, remembered = 0] = row;
  const [retained = 0, retainedBytes = 0, drained = 0] = row.slice(6);
  return {
    depth,
    inFlight,
    bytes,
    deadLetters,
    deadLetterBytes,
    remembered,
    retained,
    retainedBytes,
    drained,
  };
}

/** Runs `work` in one commit, and adds its changes to the totals. */
export function counted<T>(connection: Connection, work: (changes: Totals) => T): T {
  return connection.transaction(() => {
    const changes = totalsOf([]);
    const result = work(changes);
    const {
      depth,
      inFlight,
      bytes,
      deadLetters,
      deadLetterBytes,
      remembered,
      retained,
      retainedBytes,
      drained,
    } = changes;
    const values = [
      depth,
      inFlight,
      bytes,
      deadLetters,
      deadLetterBytes,
      remembered,
      retained,
      retainedBytes,
      drained,
    ];
    // A transaction without writes does not wait for the disk.
    if (values.some((value) => value !== 0)) connection.run(ADD, values);
    return result;
  });
}

export function readStats(connection: Connection): StoreStats {
  const [oldest] = connection.get(OLDEST) as [number | null];
  const { isAll, keys } = readPaused(connection);
  return {
    ...readTotals(connection),
    oldestReceivedAtMs: oldest ?? undefined,
    isPaused: isAll,
    pausedKeys: keys.map(decodeText),
  };
}

export function depthByKey(connection: Connection): ReadonlyMap<string, number> {
  const rows = connection.all('SELECT key, count(*) FROM queue INDEXED BY queue_key GROUP BY key') as [
    string,
    number,
  ][];
  return new Map(rows.map(([key, depth]) => [decodeText(key), depth]));
}

/** Undefined if no receiver has used the file yet. */
export function readRoom(connection: Connection): Room | undefined {
  const [depth, bytes] = connection.get('SELECT room_depth, room_bytes FROM totals') as [
    number | null,
    number | null,
  ];
  return depth === null || bytes === null ? undefined : { depth, bytes };
}

export function noteRoom(connection: Connection, { depth, bytes }: Room): void {
  connection.transaction(() =>
    connection.run('UPDATE totals SET room_depth = ?, room_bytes = ?', [depth, bytes]),
  );
}

export function readPaused(connection: Connection): Paused {
  // One row, since each claim runs this query, and returning several rows would cost more than decoding one.
  const [list] = connection.get('SELECT json_group_array(json_array(scope, key)) FROM paused') as [string];
  if (list === '[]') return NOTHING_PAUSED;
  const rows = JSON.parse(list) as [scope: 'all' | 'key', key: string][];
  const keys = rows.filter(([scope]) => scope === 'key').map(([, key]) => key);
  return { isAll: keys.length < rows.length, keys };
}

export function pause(connection: Connection, key: string | null): boolean {
  const sql = 'INSERT INTO paused (scope, key) VALUES (?, ?) ON CONFLICT DO NOTHING';
  return connection.transaction(() => connection.run(sql, pauseOf(key))) === 1;
}

export function resume(connection: Connection, key: string | null): boolean {
  const sql = 'DELETE FROM paused WHERE scope = ? AND key = ?';
  return connection.transaction(() => connection.run(sql, pauseOf(key))) === 1;
}

function pauseOf(key: string | null): readonly [string, string] {
  return key === null ? ['all', ''] : ['key', encodeText(key)];
}
