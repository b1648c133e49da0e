import { Connection } from '../connection/connection.ts';
import { sleep } from '../connection/lock-wait.ts';
import { isLocked } from '../connection/sqlite-errors.ts';
import { isAlive, ownersWithLock } from '../file/owner-lock.ts';
import { makeShrinkable } from '../file/disk-space.ts';
import type { Settings } from '../options.ts';
import { checkNewest, migrate, versionOf } from '../tables/schema.ts';

/** Opens the file of an inbox, and creates or migrates it if needed. Does not change the file of another program. */
export function openInboxFile({
  path,
  busyTimeoutMs,
  maxFileBytes,
  applicationFile = false,
}: Settings): Connection {
  return prepared(new Connection(path, busyTimeoutMs), (connection) => {
    versionOf(connection, applicationFile);
    makeShrinkable(connection);
    connection.makeDurable();
    if (!isInUse(connection)) connection.distrustWal();
    if (maxFileBytes !== undefined) connection.limitFile(maxFileBytes);
    connection.withinFileLimit(() => {
      migrate(connection, applicationFile);
    });
  });
}

/**
 * Opens an existing file of the newest version read-only. The command-line tool must not create a file, or migrate it
 * while a receiver of an older release uses it.
 */
export function readInboxFile({ path, busyTimeoutMs }: Settings): Connection {
  return prepared(new Connection(path, busyTimeoutMs, 'read'), checkNewest);
}

/** Opens such a file to change it. It is first opened read-only, since SQLite recovers any file that it may write. */
export function changeInboxFile(settings: Settings): Connection {
  readInboxFile(settings).close();
  const { path, busyTimeoutMs } = settings;
  return prepared(new Connection(path, busyTimeoutMs, 'write'), (connection) => {
    checkNewest(connection);
    connection.makeDurable();
    if (!isInUse(connection)) connection.distrustWal();
  });
}

/** How long a start waits for a lock: other processes may be starting, ending or recovering the -wal file. */
const OPEN_MS = 30_000;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/** Calls `open` until no other process has the file locked. */
export function retryWhileLocked<T>({ busyTimeoutMs }: Settings, open: () => T): T {
  const endsAt = performance.now() + (busyTimeoutMs === 0 ? 0 : Math.max(OPEN_MS, busyTimeoutMs ?? 0));
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= endsAt) throw error;
    }
    sleep(MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS));
  }
}

/**
 * Whether a store of another process has the file open. If none has, SQLite has read the -wal file of earlier processes
 * from the page cache, and it may not be on the disk. So the first of several processes that start restores it.
 */
function isInUse({ location }: Connection): boolean {
  try {
    return ownersWithLock(location).some((owner) => isAlive(location, owner));
  } catch {
    return false;
  }
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
