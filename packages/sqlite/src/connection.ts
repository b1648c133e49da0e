import { existsSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openDatabase } from './drivers/choose.ts';
import type { DriverDatabase, Value } from './drivers/driver.ts';
import { explain, isLocked } from './failure.ts';
import { makePrivate } from './private-file.ts';

export type { Value } from './drivers/driver.ts';

/** Kept of the index pages in memory: of the order of a million entries. */
const CACHE_KIB = 16_384;
/** To what the file of recent changes is cut back after a burst. */
const WAL_BYTES = 16_777_216;
const LOCKED_PAUSE_MS = 10;
/** SQLite's own limit. */
const MAX_PAGES = 4_294_967_294;

/**
 * - `make`: to read and write, and made when it is not there
 * - `write`: the same, but never made
 * - `read`: whatever is asked of it, it is not changed
 */
export type Mode = 'make' | 'write' | 'read';

/** Not every library has an option for it, but SQLite understands it as part of a URI. */
const URI_MODE = { write: 'rw', read: 'ro' };

/** Of the time that a call waits for the lock of another process, when the one before it has waited in vain. */
const IMPATIENCE = 0.1;

/** A prepared statement whose rows are arrays. Its errors are those of this library. */
export interface Statement {
  get(values: readonly Value[]): unknown;
  all(values: readonly Value[]): readonly unknown[];
  /**
   * Only within a transaction: of a statement that meets the lock of another process by itself libsql does not let go,
   * and then no transaction after it can be committed.
   *
   * @returns how many rows it changed.
   */
  run(values: readonly Value[]): number;
}

/** One connection to one file. */
export class Connection {
  readonly path: string;
  /**
   * The same with its symbolic links followed, as SQLite does: what belongs to the file stands there, and whoever comes
   * by another name must find it.
   */
  readonly location: string;
  readonly #database: DriverDatabase;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #busyTimeoutMs: number;
  #isImpatient = false;
  #maxPages: number | undefined;

  constructor(path: string, busyTimeoutMs: number, mode: Mode = 'make') {
    this.path = path;
    this.#busyTimeoutMs = busyTimeoutMs;
    if (mode === 'make' && !existsSync(path)) makePrivate(path);
    const name = mode === 'make' ? path : `${pathToFileURL(path).href}?mode=${URI_MODE[mode]}`;
    try {
      this.#database = openDatabase(name, busyTimeoutMs);
      this.location = realpathSync(path);
    } catch (error) {
      throw explain(error, path);
    }
    this.#begin = this.prepare('BEGIN IMMEDIATE');
    this.#commit = this.prepare('COMMIT');
  }

  prepare(sql: string): Statement {
    const { path } = this;
    const guarded = <T>(action: () => T): T => {
      try {
        return action();
      } catch (error) {
        throw explain(error, path);
      }
    };
    const statement = guarded(() => this.#database.prepare(sql));
    return {
      get: (values) => guarded(() => statement.get(values)),
      all: (values) => guarded(() => statement.all(values)),
      run: (values) => guarded(() => statement.run(values)),
    };
  }

  /** Runs statements that have no parameters and whose rows nobody wants. */
  execute(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw explain(error, this.path);
    }
  }

  /** One commit: when `work` or the commit throws, nothing of it is done. */
  transaction<T>(work: () => T): T {
    this.#lock();
    try {
      const result = work();
      this.#commit.run([]);
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.#database.inTransaction) this.execute('ROLLBACK');
      throw error;
    }
  }

  /**
   * Who waits in vain is held up by something else than the short commits of other stores, and the process stands still
   * meanwhile: so the next ones do not wait for long, until one has got the lock.
   */
  #lock(): void {
    try {
      this.#begin.run([]);
    } catch (error) {
      this.#becomeImpatient(true);
      throw error;
    }
    this.#becomeImpatient(false);
  }

  #becomeImpatient(isImpatient: boolean): void {
    if (isImpatient === this.#isImpatient) return;
    this.#isImpatient = isImpatient;
    const timeoutMs = Math.ceil(this.#busyTimeoutMs * (isImpatient ? IMPATIENCE : 1));
    this.execute(`PRAGMA busy_timeout = ${String(timeoutMs)}`);
  }

  /**
   * A commit that does not wait for the disk. It survives the death of the process like any other, and that of the
   * machine with the next commit that waits.
   */
  quickTransaction<T>(work: () => T): T {
    this.execute('PRAGMA synchronous = NORMAL');
    try {
      return this.transaction(work);
    } finally {
      this.execute('PRAGMA synchronous = FULL');
    }
  }

  /**
   * Every commit reaches the disk before it returns, and a reader never keeps a writer waiting.
   *
   * Two processes that start on a new file at once may both want it in this mode; one of them is then told that the
   * file is locked without the usual patience, and so has some here.
   */
  makeDurable(busyTimeoutMs: number): void {
    const endsAt = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        this.#database.exec('PRAGMA journal_mode = WAL');
        break;
      } catch (error) {
        if (!isLocked(error) || performance.now() >= endsAt) throw explain(error, this.path);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCKED_PAUSE_MS);
      }
    }
    this.execute('PRAGMA synchronous = FULL');
    this.execute(`PRAGMA cache_size = -${String(CACHE_KIB)}`);
    this.execute(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}`);
  }

  /** From now on, what is done within {@link limited} does not make the file larger than this. */
  limitFile(maxBytes: number): void {
    const [pageBytes] = this.prepare('PRAGMA page_size').get([]) as [number];
    this.#maxPages = Math.floor(maxBytes / pageBytes);
  }

  /**
   * Within the limit of the file, if it has one. What works off what is stored must stay without it: to complete the
   * last delivery of a full file may take one more page, and without that nothing would ever make room again.
   */
  limited<T>(work: () => T): T {
    if (this.#maxPages === undefined) return work();
    this.#setMaxPages(this.#maxPages);
    try {
      return work();
    } finally {
      this.#setMaxPages(MAX_PAGES);
    }
  }

  #setMaxPages(count: number): void {
    this.execute(`PRAGMA max_page_count = ${String(count)}`);
  }

  /**
   * Moves what is recent into the file, so that it is whole without the one beside it. SQLite does so itself only
   * when every statement is gone, and libsql leaves that to the garbage collector.
   */
  tidy(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // What is committed is safe beside the file as well.
    }
  }

  close(): void {
    this.#database.close();
  }
}
