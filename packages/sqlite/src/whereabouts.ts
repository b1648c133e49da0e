import { statSync } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/core';

/**
 * Whether the files that are open are still those at their paths. A file that somebody deletes or replaces stays open,
 * and SQLite goes on writing to it; but it has no name any more, and is gone with the process.
 *
 * Only what comes in is kept out then: what is in the file can still be worked off, and by this process only.
 */
export class Whereabouts {
  readonly #path: string;
  readonly #opened: readonly (readonly [path: string, identity: string])[];

  constructor(path: string) {
    this.#path = path;
    // What was committed lately is in the second one only.
    this.#opened = [path, `${path}-wal`].map((file) => [file, identityOf(file)] as const);
  }

  get areKnown(): boolean {
    return this.#opened.every(([file, identity]) => identityOf(file) === identity);
  }

  check(): void {
    if (this.areKnown) return;
    throw new BackpressureError(
      'ERR_WBP_SQLITE_REPLACED',
      `${this.#path} or its -wal file was deleted, moved or replaced while it was open.`,
    );
  }
}

/** Some microseconds: little beside a commit. */
function identityOf(file: string): string {
  try {
    const { dev, ino } = statSync(file);
    return `${String(dev)}:${String(ino)}`;
  } catch {
    return '';
  }
}
