import { createRequire } from 'node:module';
import type Libsql from 'libsql';
import type { Driver, DriverDatabase, DriverStatement, Value } from './driver.ts';

/**
 * The npm package libsql, which has a native binary for each platform. It is an optional peer dependency, so it is loaded
 * only if it is used.
 *
 * @throws the error of `require` if it is not installed, or has no binary for this platform.
 */
export function loadLibsql(): Driver {
  const Database = createRequire(import.meta.url)('libsql') as typeof Libsql;
  return { open: (name, timeout) => wrap(new Database(name, { timeout })) };
}

function wrap(database: Libsql.Database): DriverDatabase {
  return {
    get inTransaction() {
      return database.inTransaction;
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

function prepare(database: Libsql.Database, sql: string): DriverStatement {
  const statement = database.prepare<[readonly Value[]]>(sql);
  // `raw` throws for a statement that returns no rows.
  if (statement.reader) statement.raw();
  return {
    get: (values) => statement.get(values),
    all: (values) => statement.all(values),
    run: (values) => statement.run(values).changes,
  };
}
