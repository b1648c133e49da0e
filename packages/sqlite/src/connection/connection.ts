import { existsSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../drivers/choose.ts';
import type { DriverDatabase, DriverStatement, Value } from '../drivers/driver.ts';
import { explain, isDamage, isDiskError, isLocked, lockedByReader } from './failure.ts';
import { Patience } from './lock-patience.ts';
import { makePrivate } from './private-file.ts';

export type { Value } from '../drivers/driver.ts';

/** Kept of the index pages in memory: of the order of a million entries. */
const CACHE_KIB = 16_384;
/** To what the file of recent changes is cut back after a burst. */
const WAL_BYTES = 16_777_216;
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

/** How one of several calls ended. */
export type Outcome<T> = { readonly result: T } | { readonly error: unknown };

export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return { result: call() };
  } catch (error) {
    return { error };
  }
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
  readonly #version: Statement;
  readonly #patience: Patience;
  /** Whether something of the log may be missing on the disk, whatever reading it says. */
  #isLogInDoubt = false;
  #lastVersion: unknown;
  #maxPages: number | undefined;

  constructor(path: string, busyTimeoutMs: number | undefined, mode: Mode = 'make') {
    this.path = path;
    this.#patience = new Patience(busyTimeoutMs);
    if (mode === 'make' && !existsSync(path)) makePrivate(path);
    const name = mode === 'make' ? path : `${pathToFileURL(path).href}?mode=${URI_MODE[mode]}`;
    try {
      this.#database = openDatabase(name, 0);
      this.location = realpathSync(path);
    } catch (error) {
      throw explain(error, path);
    }
    this.#begin = this.prepare('BEGIN IMMEDIATE');
    this.#commit = this.prepare('COMMIT');
    this.#version = this.prepare('PRAGMA data_version');
  }

  prepare(sql: string): Statement {
    let statement: DriverStatement | undefined;
    const guarded = <T>(action: (prepared: DriverStatement) => T): T => {
      try {
        return action((statement ??= this.#database.prepare(sql)));
      } catch (error) {
        const explained = this.#explain(error);
        // libsql repeats such an error whatever the statement is asked next.
        if (!isLocked(explained)) statement = undefined;
        throw explained;
      }
    };
    guarded(() => undefined);
    // Whoever only reads is kept waiting too while the log is put in order, at a start or an end of another process.
    const read = <T>(action: (prepared: DriverStatement) => T): T =>
      this.#database.inTransaction
        ? guarded(action)
        : this.#patience.until(() => guarded(action), this.#patience.ms);
    return {
      get: (values) => read((prepared) => prepared.get(values)),
      all: (values) => read((prepared) => prepared.all(values)),
      run: (values) => guarded((prepared) => prepared.run(values)),
    };
  }

  /** Runs statements that have no parameters and whose rows nobody wants. */
  execute(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /**
   * One commit: when `work` or the commit throws, nothing of it is done. Within another transaction it is a part of that:
   * undone alone when `work` throws, and on the disk with the whole.
   *
   * Every commit waits for the disk, also where what it says could be forgotten. What it left unsynced would lie below
   * the next one in the log; and if the sync of that fails, the system throws both away, while only the next one is
   * known to be missing and written again. Everything after such a hole is lost when the machine dies.
   */
  transaction<T>(work: () => T): T {
    if (this.#database.inTransaction) return this.#part(work);
    this.#renewLog();
    this.#patience.lock(() => this.#begin.run([]));
    const beganAt = performance.now();
    try {
      const [version] = this.#version.get([]) as [unknown];
      const byOthers = this.#lastVersion !== undefined && version !== this.#lastVersion;
      this.#lastVersion = version;
      const result = work();
      this.#commit.run([]);
      this.#patience.committed(performance.now() - beganAt, byOthers);
      return result;
    } catch (error) {
      this.#rollBack('ROLLBACK');
      throw error;
    }
  }

  /**
   * Calls that came together, in one commit: to wait for the disk costs more than everything else. One that throws is
   * undone alone; when the commit fails, each is done in one of its own, unless it would fail as well.
   */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[] {
    if (calls.length < 2) return calls.map(outcomeOf);
    try {
      return this.transaction(() =>
        calls.map((call) => {
          const outcome = outcomeOf(call);
          // A full disk undoes all that was done before as well, and after damage nothing more can be done.
          if ('error' in outcome && (isDamage(outcome.error) || !this.#database.inTransaction))
            throw outcome.error;
          return outcome;
        }),
      );
    } catch (error) {
      return isDiskError(error) || isLocked(error) ? calls.map(() => ({ error })) : calls.map(outcomeOf);
    }
  }

  #part<T>(work: () => T): T {
    this.execute('SAVEPOINT part');
    try {
      const result = work();
      this.execute('RELEASE part');
      return result;
    } catch (error) {
      this.#rollBack('ROLLBACK TO part; RELEASE part');
      throw error;
    }
  }

  /** After some errors, such as a full disk, SQLite has already done so. */
  #rollBack(sql: string): void {
    if (!this.#database.inTransaction) return;
    try {
      this.execute(sql);
    } catch {
      // The error that led here says more, and of what is neither undone nor done nothing is acknowledged.
    }
  }

  #explain(error: unknown): unknown {
    const explained = explain(error, this.path);
    if (isDiskError(explained)) this.#isLogInDoubt = true;
    return explained;
  }

  /** Whatever the log seems to say, nothing is committed before all of it has been moved into the file, and synced. */
  doubtLog(): void {
    this.#isLogInDoubt = true;
  }

  /**
   * After an error of the disk, what reads as written may not be on it: the system has thrown it away, says so once, and
   * shows it to all that read until it needs the memory. So the log is begun anew. Other processes cannot commit
   * meanwhile, and what they have committed has been synced by themselves.
   *
   * @throws when the disk fails again, or another process reads what is in the log. Then the doubt stays.
   */
  #renewLog(): void {
    if (!this.#isLogInDoubt) return;
    this.#patience.lock(() => {
      if (!this.#moveLog()) throw lockedByReader(this.path);
    });
    this.#isLogInDoubt = false;
  }

  /** Moves all of the log into the file and begins it anew. False when somebody else uses it just now. */
  #moveLog(): boolean {
    const [busy] = this.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get([]) as [number];
    return busy === 0;
  }

  /** Every commit reaches the disk before it returns, and a reader never keeps a writer waiting. */
  makeDurable(): void {
    this.execute('PRAGMA journal_mode = WAL');
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
   * when every statement is gone, and libsql leaves that to the garbage collector. False when that was not possible;
   * what is committed is safe beside the file as well.
   */
  tidy(): boolean {
    try {
      return this.#moveLog();
    } catch {
      return false;
    }
  }

  close(): void {
    this.#database.close();
  }
}
