import { statSync, type Stats } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/base';

/**
 * Detects that the open files are no longer those at their paths. SQLite keeps writing to a deleted or replaced file,
 * which is lost when the process exits.
 *
 * Then only new deliveries are refused. Those in the file can still be processed, and only by this process.
 */
export class FileIdentity {
  readonly #path: string;
  readonly #opened: readonly { readonly file: string; readonly found: Pick<Stats, 'dev' | 'ino'> }[];

  constructor(path: string) {
    this.#path = path;
    // Recent commits are only in the -wal file.
    this.#opened = [path, `${path}-wal`].map((file) => ({ file, found: identityOf(file) }));
  }

  get isUnchanged(): boolean {
    return this.#opened.every(({ file, found }) => {
      const { dev, ino } = identityOf(file);
      return dev === found.dev && ino === found.ino;
    });
  }

  check(): void {
    if (this.isUnchanged) return;
    throw new BackpressureError(
      'ERR_WBP_SQLITE_REPLACED',
      `${this.#path} or its -wal file was deleted, moved or replaced while it was open.`,
    );
  }
}

const MISSING = { dev: -1, ino: -1 };

/** Takes two microseconds, which is little compared with a commit. */
function identityOf(file: string): Pick<Stats, 'dev' | 'ino'> {
  try {
    return statSync(file, { throwIfNoEntry: false }) ?? MISSING;
  } catch {
    return MISSING;
  }
}
