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
  readonly #opened: readonly { readonly file: string; readonly found: Identity }[];

  constructor(path: string) {
    this.#path = path;
    // What was committed lately is in the second one only.
    this.#opened = [path, `${path}-wal`].map((file) => ({ file, found: identityOf(file) }));
  }

  get areKnown(): boolean {
    return this.#opened.every(({ file, found }) => {
      const { dev, ino } = identityOf(file);
      return dev === found.dev && ino === found.ino;
    });
  }

  check(): void {
    if (this.areKnown) return;
    throw new BackpressureError(
      'ERR_WBP_SQLITE_REPLACED',
      `${this.#path} or its -wal file was deleted, moved or replaced while it was open.`,
    );
  }
}

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

const NOTHING: Identity = { dev: -1, ino: -1 };

/** Two microseconds: little beside a commit. */
function identityOf(file: string): Identity {
  try {
    return statSync(file, { throwIfNoEntry: false }) ?? NOTHING;
  } catch {
    return NOTHING;
  }
}
