import { Connection } from './connection.ts';
import type { Settings } from './options.ts';
import { checkFile, checkNewest, migrate } from './schema.ts';
import { makeShrinkable } from './vacuum.ts';

/** Opens the file of an inbox, and makes or migrates it where that is needed. Leaves a file of something else alone. */
export function openInboxFile({ path, busyTimeoutMs, maxFileBytes }: Settings): Connection {
  return prepared(new Connection(path, busyTimeoutMs), (connection) => {
    checkFile(connection);
    makeShrinkable(connection);
    connection.makeDurable(busyTimeoutMs);
    if (maxFileBytes !== undefined) connection.limitFile(maxFileBytes);
    connection.limited(() => {
      migrate(connection);
    });
  });
}

/**
 * Opens the file of an inbox that is there and of the newest version, to read it. Whoever looks into a file must not make
 * it into anything, nor migrate it under a receiver of an older release.
 */
export function readInboxFile({ path, busyTimeoutMs }: Settings): Connection {
  return prepared(new Connection(path, busyTimeoutMs, 'read'), checkNewest);
}

/** The same to change what is on the shelf. It is read first: SQLite tidies up every file that it may write. */
export function changeInboxFile(settings: Settings): Connection {
  readInboxFile(settings).close();
  const { path, busyTimeoutMs } = settings;
  return prepared(new Connection(path, busyTimeoutMs, 'write'), (connection) => {
    checkNewest(connection);
    connection.makeDurable(busyTimeoutMs);
  });
}

function prepared(connection: Connection, prepare: (connection: Connection) => void): Connection {
  try {
    prepare(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
