import { Connection } from './connection.ts';
import { isLocked } from './failure.ts';
import type { Settings } from '../options.ts';
import { isAlive, ownersWithLock } from './owner-lock.ts';
import { sleep } from './lock-patience.ts';
import { checkFile, checkNewest, migrate } from '../tables/schema.ts';
import { makeShrinkable } from './vacuum.ts';

/** Opens the file of an inbox, and makes or migrates it where that is needed. Leaves a file of something else alone. */
export function openInboxFile({ path, busyTimeoutMs, maxFileBytes }: Settings): Connection {
  return prepared(new Connection(path, busyTimeoutMs), (connection) => {
    checkFile(connection);
    makeShrinkable(connection);
    connection.makeDurable();
    if (!isInUse(connection)) connection.doubtLog();
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
    connection.makeDurable();
    if (!isInUse(connection)) connection.doubtLog();
  });
}

/** So long a start tries to get the file: others may be starting, ending, or putting its log in order. */
const OPEN_MS = 30_000;
const LEAST_PAUSE_MS = 5;
const MOST_PAUSE_MS = 50;

/** What `open` returns, which is called again while another process has the file locked. */
export function patiently<T>({ busyTimeoutMs }: Settings, open: () => T): T {
  const endsAt = performance.now() + (busyTimeoutMs === 0 ? 0 : Math.max(OPEN_MS, busyTimeoutMs ?? 0));
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= endsAt) throw error;
    }
    sleep(LEAST_PAUSE_MS + Math.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
  }
}

/**
 * Whether a store of another process has the file open. If none has, SQLite has just read the log of those before from
 * what the system shows, which may not be on the disk; the first of several that come together puts it in order.
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
