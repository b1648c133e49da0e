import Database from 'libsql';
import { sql } from 'drizzle-orm';
import { buildDBClient, SqliteQueue } from 'liteque';
import { better, defineQueue } from 'plainjob';

/** What is to be stored of a delivery. */
export interface Arrival {
  readonly id: string;
  readonly headers: object;
  readonly body: string;
}

/** Something that an arrival is durable in, once `store` has returned or its promise has resolved. */
export interface DurableQueue {
  store(arrival: Arrival): unknown;
  close(): void;
}

/** One insert per commit, as one writes it by hand: the columns that ours keeps, and its way of telling duplicates. */
function byHand(path: string): DurableQueue {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(
    `CREATE TABLE deliveries (
      seq INTEGER PRIMARY KEY, key TEXT NOT NULL, id TEXT NOT NULL, sender TEXT, headers TEXT NOT NULL,
      received_ms REAL NOT NULL, body BLOB NOT NULL, UNIQUE (key, id)
    ) STRICT`,
  );
  const insert = database.prepare<[string, string, string, string, number, Uint8Array]>(
    `INSERT INTO deliveries (key, id, sender, headers, received_ms, body) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  );
  return {
    store: ({ id, headers, body }) =>
      insert.run('shopify', id, 'shopify', JSON.stringify(headers), Date.now(), Buffer.from(body)),
    close: () => {
      database.close();
    },
  };
}

/** As its README has it. It sets WAL and synchronous=NORMAL itself; FULL can be set afterwards. */
function plainjob(path: string, isFull: boolean): DurableQueue {
  const connection = better(new Database(path));
  const queue = defineQueue({ connection });
  if (isFull) connection.pragma('synchronous = FULL');
  return {
    store: (arrival) => queue.add('delivery', arrival),
    close: () => {
      queue.close();
    },
  };
}

/** As its README has it. It sets WAL and synchronous=NORMAL itself; FULL can be set afterwards. */
function liteque(path: string, isFull: boolean): DurableQueue {
  const client = buildDBClient(path, { runMigrations: true });
  const queue = new SqliteQueue<Arrival>('deliveries', client, {
    defaultJobArgs: { numRetries: 2 },
    keepFailedJobs: false,
  });
  if (isFull) client.run(sql.raw('PRAGMA synchronous = FULL'));
  return {
    store: (arrival) => queue.enqueue(arrival),
    // It has no way to be closed.
    close: () => undefined,
  };
}

/** All but ours, by the names of their sides. */
export const queues: ReadonlyMap<string, (path: string) => DurableQueue> = new Map([
  ['by hand', byHand],
  ['plainjob', (path) => plainjob(path, false)],
  ['plainjob, FULL', (path) => plainjob(path, true)],
  ['liteque', (path) => liteque(path, false)],
  ['liteque, FULL', (path) => liteque(path, true)],
]);

const TABLES = ['contents', 'deliveries', 'plainjob_jobs', 'tasks'];

/** How many deliveries a file of any of them holds. */
export function countStored(path: string): number {
  const database = new Database(path);
  try {
    const has = database.prepare<[string]>("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    const table = TABLES.find((name) => has.get(name) !== undefined);
    if (table === undefined) throw new Error(`${path} holds no deliveries.`);
    const { count } = database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number };
    return count;
  } finally {
    database.close();
  }
}

/** What all of them run on. */
export function describeEngine(): string {
  const row = new Database(':memory:').prepare('SELECT sqlite_version() AS version').get();
  return `SQLite ${(row as { version: string }).version} by libsql`;
}
