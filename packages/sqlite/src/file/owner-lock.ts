import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { makePrivate } from '../connection/private-file.ts';
import { explain, isLocked } from '../connection/sqlite-errors.ts';
import { openDatabase } from '../connection/drivers.ts';

/**
 * Each owner, an open store, holds a lock on its own file. The system releases the lock when the process dies, however
 * it dies. A process id would not do: it may be reused, and has no meaning in another container. SQLite locks the file,
 * since its locks work alike on every system, and opening the file again in the same process does not release them.
 *
 * No statement is prepared here: libsql keeps a statement, and with it the file and its lock, until garbage collection.
 *
 * Lock files are created and removed only within a transaction on the inbox, so no process finds one that is not locked
 * yet.
 */
export interface OwnerLock {
  /** Does not remove the file: if the owner was never committed, another one may have its number. */
  release(): void;
}

const LOCK_TIMEOUT_MS = 1000;

function lockPath(path: string, owner: number): string {
  return `${path}.owner-${String(owner)}`;
}

/** @throws when the file cannot be created. */
export function lockOwner(path: string, owner: number): OwnerLock {
  const file = lockPath(path, owner);
  if (!existsSync(file)) makePrivate(file);
  try {
    // A process that checks whether this owner is alive holds the lock briefly.
    const database = openDatabase(file, LOCK_TIMEOUT_MS);
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return {
      release: () => {
        database.close();
      },
    };
  } catch (error) {
    throw explain(error, file);
  }
}

/** Whether the process of an owner is alive. */
export function isAlive(path: string, owner: number): boolean {
  const file = lockPath(path, owner);
  // Opening would create it.
  if (!existsSync(file)) return false;
  let database;
  try {
    database = openDatabase(file, 0);
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isLocked(error)) return true;
    throw explain(error, file);
  } finally {
    database?.close();
  }
}

/** A file that cannot be removed now is removed at the next start. */
export function removeLock(path: string, owner: number): void {
  try {
    rmSync(lockPath(path, owner), { force: true });
  } catch {
    return;
  }
}

/** The owners that have a lock file. Some may not be in the database: their process died while it opened the store. */
export function ownersWithLock(path: string): readonly number[] {
  const prefix = lockPath(basename(path), 0).slice(0, -1);
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
    .filter((owner) => Number.isSafeInteger(owner) && owner > 0);
}
