import type { Driver, DriverDatabase, DriverStatement, Value } from './driver.ts';

/** What is used of `node:sqlite`. Its types come with those of a newer Node than the oldest that is supported. */
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

/** The first release without the bug by which writers of one file could damage it: https://sqlite.org/wal.html#walresetbug */
const FIRST_SOUND: readonly number[] = [3, 51, 3];

/** The version of the SQLite that the runtime brings; undefined when it brings none. */
export function versionOfRuntime(): string | undefined {
  return process.versions['sqlite'];
}

/** The runtime's own SQLite; undefined when it has none, or one that is too old. */
export function loadNodeSqlite(): Driver | undefined {
  const version = versionOfRuntime();
  // Before it is loaded: some releases warn when it is.
  if (version === undefined || !isSound(version)) return undefined;
  // Not imported, which would end the program on a runtime that does not have it. Whatever the types say, some have
  // no such function either.
  const { getBuiltinModule } = process as { getBuiltinModule?: (name: string) => unknown };
  const sqlite = quietly(() => getBuiltinModule?.('node:sqlite')) as NodeSqlite | undefined;
  if (sqlite === undefined) return undefined;
  return { open: (name, timeout) => wrap(new sqlite.DatabaseSync(name, { timeout })) };
}

/**
 * Without the warning that it is experimental, which Node 22 gives: nobody who uses this can do anything about it, and
 * the tool would write it between its lines.
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

/** Whether a version is not older than {@link FIRST_SOUND}. */
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
    get: (values) => statement.get(...values),
    all: (values) => statement.all(...values),
    run: (values) => statement.run(...values).changes,
  };
}
