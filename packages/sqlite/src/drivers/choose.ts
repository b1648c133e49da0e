import { BackpressureError } from '@webhook-backpressure/base';
import type { Driver, DriverDatabase } from './driver.ts';
import { loadLibsql } from './libsql.ts';
import { loadNodeSqlite, versionOfRuntime } from './node-sqlite.ts';

export type DriverName = 'node:sqlite' | 'libsql';

const LOADERS: Readonly<Record<DriverName, () => Driver | undefined>> = {
  'node:sqlite': loadNodeSqlite,
  libsql: loadLibsql,
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

/** Makes this thread use a given driver, so that tests can run with each. */
export function useDriver(name: DriverName): void {
  chosen = choose([LOADERS[name]]);
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
