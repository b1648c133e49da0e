import { Connection } from './connection.ts';
import type { Settings } from './options.ts';
import { checkFile, migrate } from './schema.ts';

/** Opens the file of an inbox, and makes or migrates it where that is needed. Leaves a file of something else alone. */
export function openInboxFile({ path, busyTimeoutMs, maxFileBytes }: Settings): Connection {
  const connection = new Connection(path, busyTimeoutMs);
  try {
    checkFile(connection);
    connection.makeDurable(busyTimeoutMs);
    if (maxFileBytes !== undefined) connection.limitFile(maxFileBytes);
    migrate(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
