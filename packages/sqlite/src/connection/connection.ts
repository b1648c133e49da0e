import { existsSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openDatabase, type DriverDatabase, type DriverStatement, type Value } from './drivers.ts';
import { LockWait } from './lock-wait.ts';
import { makePrivate } from './private-file.ts';
import { explain, isDamage, isDiskError, isLocked, lockedByReader } from './sqlite-errors.ts';

/** Index pages kept in memory, for about a million entries. */
const CACHE_KIB = 16_384;
/** The size to which the -wal file is truncated after a burst. */
const WAL_BYTES = 16_777_216;
/** SQLite's own limit. */
const MAX_PAGES = 4_294_967_294;

/**
 * - `make`: read and write, and create a missing file
 * - `write`: read and write an existing file
 * - `read`: never change the file
 */
export type Mode = 'make' | 'write' | 'read';

/** In the URI, since not every library has an option for it. */
const URI_MODE = { write: 'rw', read: 'ro' };

/** The result of one of several calls, or its error. */
export type Outcome<T> = { readonly result: T } | { readonly error: unknown };

export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return { result: call() };
  } catch (error) {
    return { error };
  }
}

/** One connection to one file. It prepares each statement when it is first used. Rows are arrays of their columns. */
export class Connection {
  readonly path: string;
  /**
   * The path with symbolic links resolved. SQLite puts the `-wal` file there, and locks must be there too, so that
   * processes that open the file by another name find them.
   */
  readonly location: string;
  readonly #database: DriverDatabase;
  readonly #statements = new Map<string, DriverStatement>();
  readonly #lockWait: LockWait;
  /** Whether some of the -wal file may not be on the disk, although it can be read. */
  #isWalInDoubt = false;
  #lastVersion: unknown;
  #maxPages: number | undefined;

  /** @param adopted - a database that the application has opened and closes. */
  constructor(
    path: string,
    busyTimeoutMs: number | undefined,
    mode: Mode = 'make',
    adopted?: DriverDatabase,
  ) {
    this.path = path;
    this.#lockWait = new LockWait(busyTimeoutMs);
    if (adopted !== undefined) {
      this.#database = adopted;
      this.location = realpathSync(path);
      return;
    }
    if (mode === 'make' && !existsSync(path)) makePrivate(path);
    const name = mode === 'make' ? path : `${pathToFileURL(path).href}?mode=${URI_MODE[mode]}`;
    try {
      this.#database = openDatabase(name, 0);
      this.location = realpathSync(path);
    } catch (error) {
      throw explain(error, path);
    }
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /** @returns the first row, if any. */
  get(sql: string, values: readonly Value[] = []): unknown {
    return this.#read(sql, (statement) => statement.get(values));
  }

  all(sql: string, values: readonly Value[] = []): readonly unknown[] {
    return this.#read(sql, (statement) => statement.all(values));
  }

  /**
   * Only within a transaction: libsql does not finalize a statement that meets a lock outside of one, and then no later
   * transaction can be committed.
   *
   * @returns the number of changed rows.
   */
  run(sql: string, values: readonly Value[] = []): number {
    return this.#use(sql, (statement) => statement.run(values));
  }

  /** A read also meets a lock, while another process that starts or ends recovers or truncates the -wal file. */
  #read<T>(sql: string, action: (statement: DriverStatement) => T): T {
    if (this.#database.inTransaction) return this.#use(sql, action);
    return this.#lockWait.retryWhileLocked(() => this.#use(sql, action), this.#lockWait.ms);
  }

  #use<T>(sql: string, action: (statement: DriverStatement) => T): T {
    try {
      let statement = this.#statements.get(sql);
      if (statement === undefined) {
        statement = this.#database.prepare(sql);
        this.#statements.set(sql, statement);
      }
      return action(statement);
    } catch (error) {
      const explained = this.#explain(error);
      // libsql repeats the error in later calls of the statement, so it is prepared again.
      if (!isLocked(explained)) this.#statements.delete(sql);
      throw explained;
    }
  }

  /** Runs statements without parameters, and discards their rows. */
  execute(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /**
   * One commit. If `work` or the commit throws, it has no effect. Within another transaction it is a savepoint: rolled
   * back alone if `work` throws, and committed with the whole.
   *
   * Every commit waits for the disk, also one that could be lost without harm. An unsynced commit would be below the next
   * one in the -wal file. If the sync of the next one failed, the system would drop both, but only the next one would be
   * known to be missing and written again. After a crash of the machine, everything after this gap would be lost.
   */
  transaction<T>(work: () => T): T {
    if (this.#database.inTransaction) return this.#savepoint(work);
    this.#restoreWal();
    this.#lockWait.acquire(() => this.run('BEGIN IMMEDIATE'));
    const beganAt = performance.now();
    try {
      const [version] = this.get('PRAGMA data_version') as [unknown];
      const byOthers = this.#lastVersion !== undefined && version !== this.#lastVersion;
      this.#lastVersion = version;
      const result = work();
      this.run('COMMIT');
      this.#lockWait.committed(performance.now() - beganAt, byOthers);
      return result;
    } catch (error) {
      this.#rollBack('ROLLBACK');
      throw error;
    }
  }

  /**
   * Runs several calls in one commit, since waiting for the disk costs more than everything else. A call that throws is
   * rolled back alone. If the commit fails, each call runs in its own commit, unless it would fail for the same reason.
   */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[] {
    if (calls.length < 2) return calls.map(outcomeOf);
    try {
      return this.transaction(() =>
        calls.map((call) => {
          const outcome = outcomeOf(call);
          // A full disk has rolled back the earlier calls too, and after damage nothing can be committed.
          if ('error' in outcome && (isDamage(outcome.error) || !this.#database.inTransaction))
            throw outcome.error;
          return outcome;
        }),
      );
    } catch (error) {
      return isDiskError(error) || isLocked(error) ? calls.map(() => ({ error })) : calls.map(outcomeOf);
    }
  }

  #savepoint<T>(work: () => T): T {
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

  /** After some errors, such as a full disk, SQLite has already rolled back. */
  #rollBack(sql: string): void {
    if (!this.#database.inTransaction) return;
    try {
      this.execute(sql);
    } catch {
      // The error that caused the rollback says more, and its caller acknowledges nothing.
    }
  }

  #explain(error: unknown): unknown {
    const explained = explain(error, this.path);
    if (isDiskError(explained)) this.#isWalInDoubt = true;
    return explained;
  }

  /** From now on, nothing is committed before the whole -wal file has been moved into the database and synced. */
  distrustWal(): void {
    this.#isWalInDoubt = true;
  }

  /**
   * After a failed sync, the system drops the written pages, reports this once, and still returns them to readers until
   * it needs the memory. So the -wal file is emptied into the database and started anew. Other processes cannot commit
   * meanwhile, and have synced their own commits.
   *
   * @throws when the disk fails again or another process reads the -wal file. The next transaction then tries again.
   */
  #restoreWal(): void {
    if (!this.#isWalInDoubt) return;
    this.#lockWait.acquire(() => {
      if (!this.#checkpoint()) throw lockedByReader(this.path);
    });
    this.#isWalInDoubt = false;
  }

  /** Moves the whole -wal file into the database and truncates it. @returns false if another process is using it. */
  #checkpoint(): boolean {
    const [busy] = this.get('PRAGMA wal_checkpoint(TRUNCATE)') as [number];
    return busy === 0;
  }

  /** Makes every commit reach the disk before it returns. Readers do not block writers. */
  makeDurable(): void {
    this.execute('PRAGMA journal_mode = WAL');
    this.execute('PRAGMA synchronous = FULL');
    this.execute(`PRAGMA cache_size = -${String(CACHE_KIB)}`);
    this.execute(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}`);
  }

  /** Sets the file size for {@link withinFileLimit}. */
  limitFile(maxBytes: number): void {
    const [pageBytes] = this.get('PRAGMA page_size') as [number];
    this.#maxPages = Math.floor(maxBytes / pageBytes);
  }

  /**
   * Runs `work` within the limit of the file size, if there is one. Only storing deliveries is limited: completing the
   * last delivery of a full file may need one more page, and without it the file would stay full.
   */
  withinFileLimit<T>(work: () => T): T {
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
   * Empties the -wal file into the database. SQLite does so on close only after all statements are finalized, which
   * libsql leaves to the garbage collector.
   *
   * @returns false if that was not possible. Commits are durable in the -wal file as well.
   */
  truncateWal(): boolean {
    try {
      return this.#checkpoint();
    } catch {
      return false;
    }
  }

  close(): void {
    this.#database.close();
  }
}
