import { createRequire } from 'node:module';
import Libsql from 'libsql';

/** A connection of an application, whichever library it is of. */
export interface ClientConnection {
  exec(sql: string): unknown;
  close(): unknown;
  prepare(sql: string): { all(): unknown[] };
}

const timeout = 5000;

/** Opens a file as an application does. */
export const openBy: Record<'libsql' | 'node:sqlite', (path: string) => ClientConnection> = {
  libsql: (path) => new Libsql(path, { timeout }),
  'node:sqlite': (path) => {
    const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
      DatabaseSync: new (path: string, options: object) => ClientConnection;
    };
    return new DatabaseSync(path, { timeout });
  },
};
