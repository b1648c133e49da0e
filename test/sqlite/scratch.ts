import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore, type SqliteStoreOptions } from '@webhook-backpressure/sqlite';

/** In memory if possible, since no test depends on the speed of a disk. */
const PARENT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A temporary folder for one test. */
export class Scratch {
  readonly folder: string = mkdtempSync(join(PARENT, 'wbp-sqlite-'));
  readonly #cleanups: (() => void)[] = [];

  file(name = 'webhooks.db'): string {
    return join(this.folder, name);
  }

  /** Opens stores on the same file. */
  bed(options: Omit<SqliteStoreOptions, 'path'> = {}) {
    const store = () => sqliteStore({ path: this.file(), ...options });
    return { store, dispose: () => undefined };
  }

  /** Runs a function before the folder is removed, the last one first. */
  defer(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  dispose(): void {
    for (const cleanup of this.#cleanups.reverse()) cleanup();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
