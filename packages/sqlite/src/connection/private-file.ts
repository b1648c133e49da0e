import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';

/** Read and written by its owner only: what is stored has the headers and bodies of customers in it. */
const PRIVATE = 0o600;

/**
 * Makes an empty file for SQLite, which gives its mode to the `-wal` and `-shm` files as well. One that is there is left
 * as it is. What goes wrong is SQLite's to say, when it opens the file.
 */
export function makePrivate(path: string): void {
  const made = `${path}.new-${randomUUID()}`;
  try {
    closeSync(openSync(made, 'wx', PRIVATE));
  } catch {
    return;
  }
  try {
    // Under its name from the first moment on with its mode. And it must not be opened under that name but by SQLite:
    // to close it would take away the locks that another store of this process has on it.
    linkSync(made, path);
  } catch {
    // It is there already; or the file system knows no links, and SQLite makes the file as it does.
  }
  rmSync(made, { force: true });
}
