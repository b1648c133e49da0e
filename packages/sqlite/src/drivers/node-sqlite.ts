import type { Driver, DriverDatabase, DriverStatement, Value } from './driver.ts';

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
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
  run(...values: readonly Value[]): { readonly changes: number };
}

/** Before this release, several writers could damage a file: https://sqlite.org/wal.html#walresetbug */
const FIRST_SOUND: readonly number[] = [3, 51, 3];

/** Empty, but somewhere in memory: Node 22 takes an empty array without an address for NULL. */
const EMPTY = new Uint8Array(new ArrayBuffer(1), 0, 0);

/** The version of the runtime's SQLite, if it has one. */
export function versionOfRuntime(): string | undefined {
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
  return { open: (name, timeout) => wrap(new sqlite.DatabaseSync(name, { timeout })) };
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

function wrap(database: NodeDatabase): DriverDatabase {
  return {
    get inTransaction() {
      return database.isTransaction;
    },
    prepare: (sql) => prepare(database, sql),
    exec: (sql) => {
      database.exec(sql);
    },
    close: () => {
      database.close();
    },
  };
}

function prepare(database: NodeDatabase, sql: string): DriverStatement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return {
    get: (values) => statement.get(...values.map(bindable)),
    all: (values) => statement.all(...values.map(bindable)),
    run: (values) => statement.run(...values.map(bindable)).changes,
  };
}

function bindable(value: Value): Value {
  return value instanceof Uint8Array && value.byteLength === 0 ? EMPTY : value;
}
