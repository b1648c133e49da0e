import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, rmSync } from 'node:fs';

/** Only its owner may read and write the file, which contains headers and bodies of customers. */
const PRIVATE = 0o600;

/**
 * Creates an empty file for SQLite, which gives the same mode to the `-wal` and `-shm` files. An existing file is not
 * changed. Errors are left to SQLite, which reports them when it opens the file.
 */
export function makePrivate(path: string): void {
  const made = `${path}.new-${randomUUID()}`;
  try {
    closeSync(openSync(made, 'wx', PRIVATE));
  } catch {
    return;
  }
  try {
    // A link, so that the file has its mode from the start and only SQLite opens it under this name: closing it here
    // would release the locks that another store of this process holds on it.
    linkSync(made, path);
  } catch {
    // The file exists, or the file system has no hard links. Then SQLite creates the file, with its default mode.
  }
  rmSync(made, { force: true });
}
