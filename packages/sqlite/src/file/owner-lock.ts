import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openDatabase } from '../drivers/choose.ts';
import { explain, isLocked } from './failure.ts';
import { makePrivate } from './private-file.ts';

/**
 * An owner holds the lock of a file of its own for as long as it lives, and the system takes the lock away when its
 * process dies, however it dies. A process id would not do: it may belong to somebody else by now, and in another
 * container it means nothing. SQLite locks the file, because its locks are the same on every system and because a
 * second opening of the file in this process does not release them.
 *
 * No statement is prepared here: libsql keeps one until it is collected as garbage, and with it the file and its lock.
 *
 * Files are made and removed only within a transaction on the inbox itself, so that none is judged between its making
 * and its locking.
 */
export interface OwnerLock {
  /** Leaves the file: if the owner was never committed, its number may by now be somebody else's. */
  release(): void;
}

const LOCK_TIMEOUT_MS = 1000;

function lockPath(path: string, owner: number): string {
  return `${path}.owner-${String(owner)}`;
}

/** @throws when the file cannot be made. */
export function lockOwner(path: string, owner: number): OwnerLock {
  const file = lockPath(path, owner);
  if (!existsSync(file)) makePrivate(file);
  try {
    // Whoever asks whether this owner lives holds the file for a moment.
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

/** Whether the process of an owner is still there. */
export function isAlive(path: string, owner: number): boolean {
  const file = lockPath(path, owner);
  // Opening it would make it.
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

export function removeLock(path: string, owner: number): void {
  remove(lockPath(path, owner));
}

/** The owners that have a file: more than there are when a process died while it opened its store. */
export function ownersWithLock(path: string): readonly number[] {
  const beginning = lockPath(basename(path), 0).slice(0, -1);
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(beginning))
    .map((name) => Number(name.slice(beginning.length)))
    .filter((owner) => Number.isSafeInteger(owner) && owner > 0);
}

/** What cannot be removed now is removed at the next start. */
function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    return;
  }
}
