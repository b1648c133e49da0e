import { BackpressureError } from '@webhook-backpressure/base';
import type { StoreEvent } from '@webhook-backpressure/inbox';
import type { PostgresClient, PostgresPool, Settings } from '../options.ts';
import { ClockSkew } from './clock-skew.ts';
import { coded, isRetryable, isUsableAfter, notSent } from './errors.ts';

const CONNECTIONS = 4;
/** How long a statement may take. A sender waits for 5 to 30 s. */
const QUERY_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_TRIES = 5;

/** The time of the server, as a column. */
export const SERVER_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision AS server_ms';

/** An idle connection that has failed: the next statement takes another one. */
const ignore = (): void => undefined;

const heard = new WeakSet<PostgresClient>();

/**
 * The server may end a connection in the packet that establishes it. The error is emitted before a promise of the client can
 * be awaited, and without a listener it would end the process.
 */
function listen(client: PostgresClient): void {
  // Stores may share a pool.
  if (heard.has(client)) return;
  heard.add(client);
  client.on('error', ignore);
}

/** Runs a statement. */
export type Run = <R>(text: string, values?: readonly unknown[]) => Promise<readonly R[]>;

interface OwnPool extends PostgresPool {
  end(): Promise<void>;
  on: NonNullable<PostgresPool['on']>;
}

/** The database of a store. */
export class Server {
  readonly schema: string;
  /** Whether a session of the server cannot be relied on. */
  readonly isPooled: boolean;
  readonly skew: ClockSkew;
  /** Reports an event of the store. */
  report: (event: StoreEvent) => void;
  /** While false, statements are rejected. */
  isOpen = true;
  readonly #settings: Settings;
  #pool: Promise<PostgresPool> | undefined;
  #own: OwnPool | undefined;
  /** Whether a connection has the usual settings. Others may have been made meanwhile for the role or the database. */
  readonly #areUsual = new WeakMap<PostgresClient, boolean>();

  constructor(settings: Settings, report: (event: StoreEvent) => void = () => undefined) {
    this.#settings = settings;
    this.report = report;
    this.skew = new ClockSkew((aheadMs) => {
      const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
      this.report({
        type: 'warning',
        code: 'WBP_POSTGRES_CLOCK',
        message: `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the PostgreSQL server. The store corrects its times. Synchronize the clocks.`,
      });
    });
    this.schema = settings.schema;
    this.isPooled = settings.isPooled;
  }

  /** Runs a statement that selects {@link SERVER_MS}, and learns the time of the server from it. */
  async timed<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    const sentAtMs = this.skew.now();
    const rows = await this.query<R & { readonly server_ms: number }>(text, values);
    if (rows[0] !== undefined) this.skew.note(rows[0].server_ms, sentAtMs);
    return rows;
  }

  /** Runs one statement in a transaction, again when transactions have waited for each other. */
  async query<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.withClient((run, client) => this.#runAlone<R>(run, client, text, values));
      } catch (error) {
        if (tries === MAX_TRIES || !isRetryable((error as Error).cause)) throw error;
      }
    }
  }

  /**
   * The functions of the schema wait for locks, then see what others have committed meanwhile. With another default of the
   * role or the database, members of a fleet would miss each other, and puts would fail. With fewer digits, times would be
   * wrong by hours.
   */
  async #runAlone<R>(
    run: Run,
    client: PostgresClient,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly R[]> {
    if (!this.#areUsual.has(client)) {
      const [found] = await run<{ are_usual: boolean }>(
        `SELECT current_setting('transaction_isolation') = 'read committed'
          AND current_setting('extra_float_digits')::integer > 0 AS are_usual`,
      );
      this.#areUsual.set(client, found?.are_usual === true);
    }
    if (this.#areUsual.get(client) === true) {
      try {
        return await run<R>(text, values);
      } catch (error) {
        // A pooler may have changed the connection behind the client.
        if (isRetryable(error)) this.#areUsual.delete(client);
        throw error;
      }
    }
    await run('BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL extra_float_digits = 1');
    try {
      const rows = await run<R>(text, values);
      await run('COMMIT');
      return rows;
    } catch (error) {
      // The connection may have failed, which is why there is nothing more to report.
      await run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** The result of the function `name` of the schema, which has one row. */
  async call<R>(name: string, values: readonly unknown[]): Promise<R> {
    const [row] = await this.rows<R>(name, values);
    return row as R;
  }

  /** The rows that the function `name` of the schema returns. */
  async rows<R>(name: string, values: readonly unknown[]): Promise<readonly R[]> {
    const parameters = values.map((_, at) => `$${String(at + 1)}`).join(', ');
    return await this.query<R>(`SELECT * FROM ${this.schema}.${name}(${parameters})`, values);
  }

  /** Runs statements on one connection. */
  async withClient<T>(work: (run: Run, client: PostgresClient) => Promise<T>): Promise<T> {
    let client: PostgresClient | undefined;
    let isBroken = false;
    // A pool listens to idle clients only, and an error without a listener would end the process.
    const failed = (): void => {
      isBroken = true;
    };
    try {
      const taken = (client = await this.connect());
      taken.on('error', failed);
      return await work(async <R>(text: string, values: readonly unknown[] = []) => {
        const { rows } = await taken.query({ text, values: [...values], query_timeout: QUERY_TIMEOUT_MS });
        return rows as R[];
      }, taken);
    } catch (error) {
      isBroken ||= !isUsableAfter(error);
      const failure = coded(error, this.schema);
      throw client === undefined ? notSent(failure) : failure;
    } finally {
      // The pool has its own listener from then on.
      client?.release(isBroken);
      client?.off('error', failed);
    }
  }

  /** Takes a client of the pool. Rejects when there is none in time: a pool may wait without limit. */
  async connect(): Promise<PostgresClient> {
    if (!this.isOpen) throw notOpen(`The store of the schema ${this.schema} is not open.`);
    this.#pool ??= this.#openPool();
    const pool = await this.#pool;
    const connecting = pool.connect();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`No connection within ${String(CONNECT_TIMEOUT_MS)} ms`));
        connecting.then(
          (client) => {
            client.release();
          },
          () => undefined,
        );
      }, CONNECT_TIMEOUT_MS);
    });
    try {
      return await Promise.race([connecting, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async end(): Promise<void> {
    this.isOpen = false;
    const own = this.#own;
    const given = this.#pool === undefined ? undefined : this.#settings.connection.pool;
    given?.off?.('error', ignore);
    given?.off?.('connect', listen);
    this.#pool = undefined;
    this.#own = undefined;
    await own?.end();
  }

  async #openPool(): Promise<PostgresPool> {
    const { connectionString, pool: given } = this.#settings.connection;
    if (given !== undefined) {
      given.on?.('error', ignore);
      given.on?.('connect', listen);
      return given;
    }
    const pg = await loadPg();
    const pool: OwnPool = new pg.Pool({
      connectionString,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      // PgBouncer refuses connections with settings that it does not know.
      ...(this.isPooled ? {} : { statement_timeout: QUERY_TIMEOUT_MS }),
    });
    pool.on('error', ignore);
    pool.on('connect', listen);
    this.#own = pool;
    return pool;
  }
}

export function notOpen(sentence: string): BackpressureError {
  return new BackpressureError('ERR_WBP_POSTGRES_NOT_OPEN', sentence);
}

/**
 * Loads the package `pg`, only for those who need it: a pool may come from another copy, and printing the schema needs
 * none.
 *
 * @throws BackpressureError `ERR_WBP_POSTGRES_CONNECTION` if it is not installed or cannot be loaded.
 */
export async function loadPg(): Promise<typeof import('pg').default> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      'The package pg cannot be loaded. Run npm install pg.',
      { cause: error },
    );
  }
}
