import { createRequire } from 'node:module';
import { BackpressureError } from '@webhook-backpressure/base';
import type Libsql from 'libsql';
import type { DriverName } from '../options.ts';

/** The types that can be bound to a parameter. */
export type Value = string | number | Uint8Array | null;

/** A prepared statement. A row is an array of its columns. */
export interface DriverStatement {
  /** @returns the first row, if any. */
  get(values: readonly Value[]): unknown;
  all(values: readonly Value[]): readonly unknown[];
  /** @returns the number of changed rows. */
  run(values: readonly Value[]): number;
}

/** An open database. It throws the library's own errors, which `sqlite-errors.ts` converts. */
export interface DriverDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): DriverStatement;
  /** Runs statements without parameters, and discards their rows. */
  exec(sql: string): void;
  close(): void;
}

/** A library that contains SQLite. */
export interface Driver {
  /** @param name - a path, or a `file:` URI with parameters of SQLite. */
  open(name: string, busyTimeoutMs: number): DriverDatabase;
  /** A database that the application has opened by the same copy of the library; undefined for anything else. */
  adopt(client: unknown): DriverDatabase | undefined;
}

/** The used part of `node:sqlite`. The types of the oldest supported Node do not have it. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { timeout: number }) => NodeDatabase;
}
interface NodeDatabase {
  readonly isTransaction: boolean;
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}
interface NodeStatement {
  setReturnArrays(enabled: boolean): void;
  setReadBigInts(enabled: boolean): void;
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
  run(...values: readonly Value[]): { readonly changes: number | bigint };
}

/** Before this release, several writers could damage a file: https://sqlite.org/wal.html#walresetbug */
const FIRST_SOUND: readonly number[] = [3, 51, 3];

/** Empty, but somewhere in memory: Node 22 takes an empty array without an address for NULL. */
const EMPTY = new Uint8Array(new ArrayBuffer(1), 0, 0);

/** The version of the runtime's SQLite, if it has one. */
function versionOfRuntime(): string | undefined {
  return process.versions['sqlite'];
}

/** The runtime's SQLite; undefined if it has none or its version is too old. */
export function loadNodeSqlite(): Driver | undefined {
  const version = versionOfRuntime();
  // Checked before loading, since some releases warn when it is loaded.
  if (version === undefined || !isSound(version)) return undefined;
  // A static import would fail on a runtime without it. Some runtimes lack this function too, despite the types.
  const { getBuiltinModule } = process as { getBuiltinModule?: (name: string) => unknown };
  const sqlite = quietly(() => getBuiltinModule?.('node:sqlite')) as NodeSqlite | undefined;
  if (sqlite === undefined) return undefined;
  const { DatabaseSync } = sqlite;
  const adopted = (database: NodeDatabase): DriverDatabase => {
    const prepare = (sql: string): DriverStatement => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      // Otherwise it throws at an integer above 2^53, again at every try.
      statement.setReadBigInts(true);
      return {
        get: (values) => statement.get(...values.map(bindable)),
        all: (values) => statement.all(...values.map(bindable)),
        run: (values) => Number(statement.run(...values.map(bindable)).changes),
      };
    };
    return wrap(database, () => database.isTransaction, prepare);
  };
  return {
    open: (name, timeout) => adopted(new DatabaseSync(name, { timeout })),
    adopt: (client) => (client instanceof DatabaseSync ? adopted(client) : undefined),
  };
}

/**
 * Suppresses the ExperimentalWarning of Node 22. Users cannot act on it, and it would appear in the output of the
 * command-line tool.
 */
function quietly<T>(load: () => T): T {
  const emitWarning = Reflect.get(process, 'emitWarning');
  process.emitWarning = (...args: readonly unknown[]) => {
    if (args[1] !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, args);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Whether a version is {@link FIRST_SOUND} or newer. */
export function isSound(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [at, least] of FIRST_SOUND.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

function bindable(value: Value): Value {
  return value instanceof Uint8Array && value.byteLength === 0 ? EMPTY : value;
}

/**
 * The npm package libsql, which has a native binary for each platform. It is an optional peer dependency, so it is loaded
 * only if it is used.
 *
 * @throws the error of `require` if it is not installed, or has no binary for this platform.
 */
export function loadLibsql(): Driver {
  return loadPackage('libsql');
}

/** The npm package better-sqlite3, for applications that use it. The interface of libsql is the same. */
function loadBetterSqlite3(): Driver {
  return loadPackage('better-sqlite3');
}

function loadPackage(name: 'libsql' | 'better-sqlite3'): Driver {
  const Database = createRequire(import.meta.url)(name) as typeof Libsql;
  const adopted = (database: Libsql.Database): DriverDatabase => {
    const prepare = (sql: string): DriverStatement => {
      const statement = database.prepare<[readonly Value[]]>(sql);
      // `raw` throws for a statement that returns no rows.
      if (statement.reader) statement.raw();
      return {
        get: (values) => statement.get(values),
        all: (values) => statement.all(values),
        run: (values) => statement.run(values).changes,
      };
    };
    return wrap(database, () => database.inTransaction, prepare);
  };
  return {
    open: (file, timeout) => adopted(new Database(file, { timeout })),
    adopt: (client) => (client instanceof Database ? adopted(client) : undefined),
  };
}

/** Replaces integers that only damage or another program writes. Those above 2^53 could not be bound as they were read. */
function bounded(row: unknown): unknown {
  if (!Array.isArray(row)) return row;
  for (let at = 0; at < row.length; at += 1) {
    const value: unknown = row[at];
    if (typeof value !== 'bigint' && !Number.isInteger(value)) continue;
    row[at] = Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number(value), Number.MAX_SAFE_INTEGER));
  }
  return row;
}

function wrap(
  database: { exec(sql: string): unknown; close(): unknown },
  isInTransaction: () => boolean,
  prepare: (sql: string) => DriverStatement,
): DriverDatabase {
  return {
    get inTransaction() {
      return isInTransaction();
    },
    prepare: (sql) => {
      const statement = prepare(sql);
      return {
        get: (values) => bounded(statement.get(values)),
        all: (values) => statement.all(values).map(bounded),
        run: (values) => statement.run(values),
      };
    },
    exec: (sql) => {
      database.exec(sql);
    },
    close: () => {
      database.close();
    },
  };
}

const LOADERS: Record<DriverName, () => Driver | undefined> = {
  'node:sqlite': loadNodeSqlite,
  libsql: loadLibsql,
  'better-sqlite3': loadBetterSqlite3,
};

let chosen: Driver | undefined;

/**
 * Opens a database with the runtime's SQLite, or with libsql if that is missing or too old. A process uses only one of
 * them: file locks belong to the whole process, so two copies of SQLite in it would not exclude each other.
 *
 * @param name - a path, or a `file:` URI with parameters of SQLite.
 * @throws BackpressureError `ERR_WBP_SQLITE_DRIVER` if neither is available, or the error of the library.
 */
export function openDatabase(name: string, busyTimeoutMs: number): DriverDatabase {
  chosen ??= choose([loadNodeSqlite, loadLibsql]);
  return chosen.open(name, busyTimeoutMs);
}

/**
 * Makes this thread use a given driver.
 *
 * @throws BackpressureError `ERR_WBP_SQLITE_DRIVER` if it cannot be loaded.
 */
export function useDriver(name: DriverName): void {
  let driver: Driver | undefined;
  let cause: unknown;
  try {
    driver = LOADERS[name]();
  } catch (error) {
    cause = error;
  }
  if (driver === undefined)
    throw new BackpressureError(
      'ERR_WBP_SQLITE_DRIVER',
      `${name} cannot be loaded in this runtime (${process.version}), or its SQLite is older than 3.51.3.`,
      { cause },
    );
  chosen = driver;
}

/**
 * A database that the application has opened by the library that the stores of this process use; undefined for anything
 * else. Two copies of SQLite in a process would not see the locks of each other, and could damage the file.
 */
export function adoptDatabase(client: unknown): DriverDatabase | undefined {
  chosen ??= choose([loadNodeSqlite, loadLibsql]);
  return chosen.adopt(client);
}

/** @returns the first driver that loads. */
export function choose(loaders: readonly (() => Driver | undefined)[]): Driver {
  let cause: unknown;
  for (const load of loaders) {
    try {
      const driver = load();
      if (driver !== undefined) return driver;
    } catch (error) {
      cause = error;
    }
  }
  const version = versionOfRuntime();
  const own = version === undefined ? 'has no SQLite' : `has SQLite ${version}, but 3.51.3 is required`;
  throw new BackpressureError(
    'ERR_WBP_SQLITE_DRIVER',
    `This runtime (${process.version}) ${own}, and the package libsql cannot be loaded. Use a newer Node, or install libsql: npm install libsql.`,
    { cause },
  );
}
