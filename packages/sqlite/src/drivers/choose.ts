import { BackpressureError } from '@webhook-backpressure/core';
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
 * Opens a database with the SQLite of the runtime, or, where that is missing or too old, with libsql. In one process all
 * are opened by the same: the locks of a process belong to all of it, so that two copies of SQLite in it would not keep
 * each other out.
 *
 * @param name - a path, or a `file:` URI with parameters of SQLite.
 * @throws BackpressureError `ERR_WBP_SQLITE_DRIVER` when there is neither; otherwise what the library throws.
 */
export function openDatabase(name: string, busyTimeoutMs: number): DriverDatabase {
  chosen ??= choose([loadNodeSqlite, loadLibsql]);
  return chosen.open(name, busyTimeoutMs);
}

/** Which one this thread uses from now on, whatever would be chosen otherwise. Tests run with each. */
export function useDriver(name: DriverName): void {
  chosen = choose([LOADERS[name]]);
}

/** The first that can be loaded. */
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
  const own = version === undefined ? 'has no SQLite' : `has SQLite ${version}, and 3.51.3 is needed`;
  throw new BackpressureError(
    'ERR_WBP_SQLITE_DRIVER',
    `This runtime (${process.version}) ${own}, and the package libsql cannot be loaded. Use a newer Node, or install libsql: npm install libsql.`,
    { cause },
  );
}
