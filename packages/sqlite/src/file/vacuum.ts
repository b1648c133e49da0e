import type { Connection, Statement } from '../connection/connection.ts';

/** Stays free in the file for the next deliveries. Shrinking and growing in turn would cost writes. */
const KEPT_BYTES = 4_194_304;
/** A step of this size takes a few milliseconds, which a new delivery may have to wait. */
const PAGES_PER_STEP = 128;

/** Returns free pages of the file to the disk, in small steps while the store is idle. */
export class Vacuum {
  readonly #connection: Connection;
  readonly #free: Statement;
  readonly #keptPages: number;
  readonly #isPossible: boolean;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#free = connection.prepare('PRAGMA freelist_count');
    const [pageBytes] = connection.prepare('PRAGMA page_size').get([]) as [number];
    this.#keptPages = Math.ceil(KEPT_BYTES / pageBytes);
    // Files of older releases reuse free pages, but cannot shrink.
    const [mode] = connection.prepare('PRAGMA auto_vacuum').get([]) as [number];
    this.#isPossible = mode === INCREMENTAL;
  }

  /** One step. @returns whether another one is worthwhile. */
  step(): boolean {
    if (!this.#isPossible) return false;
    const spare = this.#spare();
    if (spare <= 0) return false;
    this.#connection.transaction(() => {
      this.#connection.execute(`PRAGMA incremental_vacuum(${String(Math.min(spare, PAGES_PER_STEP))})`);
    });
    return spare > PAGES_PER_STEP;
  }

  #spare(): number {
    const [free] = this.#free.get([]) as [number];
    return free - this.#keptPages;
  }
}

/** The value of `PRAGMA auto_vacuum`. */
const INCREMENTAL = 2;

/** Only for an empty file: in any other SQLite would have to move all pages. */
export function makeShrinkable(connection: Connection): void {
  const [pages] = connection.prepare('PRAGMA page_count').get([]) as [number];
  if (pages === 0) connection.execute('PRAGMA auto_vacuum = INCREMENTAL');
}
