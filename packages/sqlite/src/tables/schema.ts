import { BackpressureError } from '@webhook-backpressure/base';
import type { Connection } from '../connection/connection.ts';

/** "WBPI" in ASCII. It identifies the file of an inbox in the header. */
const APPLICATION_ID = 0x57_42_50_49;

/**
 * Data that never changes, above all the bodies, is in its own table, because SQLite rewrites a changed row as a whole. The sum
 * of a body is in `queue`: in `contents` it would come after the body and be slow to read.
 *
 * The states in `queue` are numbers, because SQLite uses the partial indexes only for constants.
 */
const TABLES = `
  CREATE TABLE contents (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    is_id_generated INTEGER NOT NULL,
    sender TEXT,
    facts TEXT NOT NULL,
    received_ms REAL NOT NULL,
    bytes INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (key, id)
  ) STRICT;

  -- state 0 ready: due
  --       1 waiting: for a retry
  --       2 held: claimed by an owner, until it settles it
  --       3 suspect: due, after a claim that was not settled
  --       4 behind: an earlier one of its key comes first, in an ordered file
  CREATE TABLE queue (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    state INTEGER NOT NULL,
    due_ms REAL NOT NULL,
    attempts INTEGER NOT NULL,
    strandings INTEGER NOT NULL,
    owner INTEGER,
    lease_ms REAL,
    received_ms REAL NOT NULL,
    sum INTEGER
  ) STRICT;
  CREATE INDEX queue_ready ON queue (key, due_ms) WHERE state = 0;
  CREATE INDEX queue_held ON queue (owner, lease_ms) WHERE state = 2;
  CREATE INDEX queue_behind ON queue (key, seq) WHERE state = 4;
  CREATE INDEX queue_retries ON queue (due_ms) WHERE state = 1;
  -- For claims of named keys, whose cost must not depend on what else is stored.
  CREATE INDEX queue_key ON queue (key);
  CREATE INDEX queue_waiting ON queue (key, due_ms) WHERE state = 1;
  CREATE INDEX queue_suspect ON queue (key, due_ms) WHERE state = 3;
  CREATE INDEX queue_claimed ON queue (key) WHERE state = 2;

  -- The first delivery of each key, in an ordered file.
  CREATE TABLE heads (key TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE paused (
    scope TEXT NOT NULL CHECK (scope IN ('all', 'key')),
    key TEXT NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE shelf (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    error TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    shelved_ms REAL NOT NULL,
    sum INTEGER
  ) STRICT;
  CREATE INDEX shelf_order ON shelf (shelved_ms);
  CREATE INDEX shelf_id ON shelf (id, shelved_ms);
  CREATE INDEX shelf_key ON shelf (key, shelved_ms);

  -- Completed deliveries that are kept.
  CREATE TABLE kept (
    at INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    completed_ms REAL NOT NULL,
    sum INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX kept_seq ON kept (seq);
  CREATE INDEX kept_id ON kept (id);
  CREATE INDEX kept_key ON kept (key);

  -- The hashes of completed ids.
  CREATE TABLE buckets (
    bucket INTEGER PRIMARY KEY,
    first_ms REAL,
    last_ms REAL,
    count INTEGER NOT NULL
  ) STRICT;
  INSERT INTO buckets (bucket, count) VALUES (1, 0);
  CREATE TABLE remembered (
    bucket INTEGER NOT NULL,
    hash BLOB NOT NULL,
    sum INTEGER,
    PRIMARY KEY (bucket, hash)
  ) STRICT, WITHOUT ROWID;

  -- The number of an owner is never given again: its lock file is named after it.
  CREATE TABLE owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    since_ms REAL NOT NULL
  ) STRICT;

  -- One row: counting a million rows takes a second. room_*: up to how much the tool may put back from the shelf. drained:
  -- deliveries that have left the queue, ever, from which receivers without workers learn how fast the workers are.
  CREATE TABLE totals (
    depth INTEGER NOT NULL DEFAULT 0,
    in_flight INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    shelved INTEGER NOT NULL DEFAULT 0,
    shelved_bytes INTEGER NOT NULL DEFAULT 0,
    remembered INTEGER NOT NULL DEFAULT 0,
    kept INTEGER NOT NULL DEFAULT 0,
    kept_bytes INTEGER NOT NULL DEFAULT 0,
    drained INTEGER NOT NULL DEFAULT 0,
    is_ordered INTEGER NOT NULL DEFAULT 0,
    room_depth INTEGER,
    room_bytes INTEGER
  ) STRICT;
  INSERT INTO totals DEFAULT VALUES;

  PRAGMA application_id = ${String(APPLICATION_ID)};
`;

/** Step n migrates version n to version n + 1. A published step never changes. */
export const MIGRATIONS: readonly string[] = [TABLES];

/** The application, the version, the number of tables of the file, and whether it has the version of the inbox in a table. */
const HEADER = `SELECT
  (SELECT application_id FROM pragma_application_id),
  (SELECT user_version FROM pragma_user_version),
  (SELECT count(*) FROM sqlite_schema),
  EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'webhook_inbox')`;

/** The tables of all versions. */
const NAMES = [
  ...['contents', 'queue', 'shelf', 'owners', 'totals', 'heads'],
  ...['paused', 'buckets', 'remembered', 'kept'],
];

/** @throws unless the file is that of an inbox in the newest version. Changes nothing. */
export function checkNewest(connection: Connection, migrations: readonly string[] = MIGRATIONS): void {
  const version = versionOf(connection, false, migrations);
  const { path } = connection;
  if (version === 0)
    throw new BackpressureError(
      'ERR_WBP_SQLITE_FOREIGN',
      `${path} is empty, so it is not the file of an inbox.`,
    );
  if (version < migrations.length)
    throw new BackpressureError(
      'ERR_WBP_SQLITE_VERSION',
      `${path} has version ${String(version)}. Start a receiver of this release on it, which migrates it to version ${String(migrations.length)}.`,
    );
}

/**
 * Migrates the file to the newest version, with all steps or none.
 *
 * @param isOfApplication - whether the header belongs to the application, so that the version is kept in a table.
 */
export function migrate(
  connection: Connection,
  isOfApplication = false,
  migrations: readonly string[] = MIGRATIONS,
): void {
  const isNewest = (): boolean =>
    versionOf(connection, isOfApplication, migrations) === migrations.length &&
    (headerOf(connection)[3] === 1 || !isOfApplication);
  if (isNewest()) return;
  connection.transaction(() => {
    // Another process may have migrated it meanwhile.
    if (isNewest()) return;
    const [applicationId, userVersion, , hasTable] = headerOf(connection);
    for (const step of migrations.slice(versionOf(connection, isOfApplication, migrations)))
      connection.execute(step);
    if (!isOfApplication && hasTable === 0) {
      connection.execute(`PRAGMA user_version = ${String(migrations.length)}`);
      return;
    }
    connection.execute(`
      CREATE TABLE IF NOT EXISTS webhook_inbox (version INTEGER NOT NULL) STRICT;
      DELETE FROM webhook_inbox;
      INSERT INTO webhook_inbox VALUES (${String(migrations.length)});
      PRAGMA application_id = ${String(applicationId)};
      PRAGMA user_version = ${String(userVersion)};
    `);
  });
}

/** In one statement: between two, another process may create an inbox in an empty file. */
function headerOf(connection: Connection): readonly [number, number, number, number] {
  return connection.get(HEADER) as [number, number, number, number];
}

/**
 * Changes nothing. @returns the version of the file, 0 if it has no tables of an inbox.
 *
 * @param isOfApplication - whether it may have tables of the application.
 * @throws unless the file is empty, or the file of an inbox in a known version.
 */
export function versionOf(
  connection: Connection,
  isOfApplication = false,
  migrations: readonly string[] = MIGRATIONS,
): number {
  const [applicationId, userVersion, tables, hasTable] = headerOf(connection);
  const isOwn = applicationId === APPLICATION_ID;
  const isEmpty = tables === 0 && applicationId === 0 && userVersion === 0;
  if (hasTable === 0 && !isOwn && !isEmpty) {
    if (isOfApplication) checkTables(connection);
    else
      throw new BackpressureError(
        'ERR_WBP_SQLITE_FOREIGN',
        `${connection.path} is a SQLite file, but not the file of an inbox. If it is the database of the application, set applicationFile: true.`,
      );
  }
  const inTable = hasTable === 0 ? undefined : connection.get('SELECT max(version) FROM webhook_inbox');
  const version = (inTable as [number] | undefined)?.[0] ?? (isOwn ? userVersion : 0);
  if (version > migrations.length)
    throw new BackpressureError(
      'ERR_WBP_SQLITE_VERSION',
      `${connection.path} has version ${String(version)}, but this release only knows versions up to ${String(migrations.length)}.`,
    );
  return version;
}

/** @throws if the application has a table with the name of one of the inbox. */
function checkTables(connection: Connection): void {
  const names = NAMES.map((name) => `'${name}'`).join(', ');
  const taken = connection.get(`SELECT name FROM sqlite_schema WHERE name COLLATE NOCASE IN (${names})`);
  if (taken === undefined) return;
  throw new BackpressureError(
    'ERR_WBP_SQLITE_FOREIGN',
    `${connection.path} has a table ${(taken as [string])[0]} of the application, which is the name of a table of the inbox.`,
  );
}
