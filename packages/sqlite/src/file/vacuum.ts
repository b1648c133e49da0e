import type { Connection, Statement } from './connection.ts';

/** So much stays free in the file: what arrives next needs it, and to shrink and grow by turns would only cost writes. */
const KEPT_BYTES = 4_194_304;
/** A step of so many pages takes a few milliseconds, for which a delivery would wait. */
const PAGES_AT_ONCE = 128;

/** Gives what is free in the file back to the disk, in small steps, while nothing else is to be done. */
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
    // A file that an older release has made knows only how to use its room again.
    const [mode] = connection.prepare('PRAGMA auto_vacuum').get([]) as [number];
    this.#isPossible = mode === INCREMENTAL;
  }

  /** One step. Whether another one is worth it. */
  step(): boolean {
    if (!this.#isPossible) return false;
    const spare = this.#spare();
    if (spare <= 0) return false;
    this.#connection.transaction(() => {
      this.#connection.execute(`PRAGMA incremental_vacuum(${String(Math.min(spare, PAGES_AT_ONCE))})`);
    });
    return spare > PAGES_AT_ONCE;
  }

  #spare(): number {
    const [free] = this.#free.get([]) as [number];
    return free - this.#keptPages;
  }
}

/** As `PRAGMA auto_vacuum` numbers it. */
const INCREMENTAL = 2;

/** For a file that has nothing in it yet: in any other SQLite would have to move everything. */
export function makeShrinkable(connection: Connection): void {
  const [pages] = connection.prepare('PRAGMA page_count').get([]) as [number];
  if (pages === 0) connection.execute('PRAGMA auto_vacuum = INCREMENTAL');
}
