import { resolve } from 'node:path';
import {
  BackpressureError,
  type BackpressureErrorCode,
  checkBoolean,
  checkNames,
  checkOneOf,
  invalid,
} from '@webhook-backpressure/base';

/** The libraries that contain SQLite. */
const DRIVERS = ['node:sqlite', 'libsql', 'better-sqlite3'] as const;
export type DriverName = (typeof DRIVERS)[number];

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The path of the file. The store creates the file, but not its directory. Beside it, SQLite keeps `-wal` and `-shm`
   * files, and each open store a lock named `.owner-` and a number. All of them must be on a local disk: locks do not
   * work on network file systems.
   */
  path: string;
  /**
   * How long a call waits for the lock while another process writes to the file, in milliseconds. Then it throws
   * `ERR_WBP_SQLITE_LOCKED`, and later calls wait a tenth as long until one gets the lock. An integer from 0, which
   * never waits, to 60,000. Default: 200 times the commit time, between 10 s and 60 s; with `thread: false`, where the
   * wait blocks the event loop, 20 times, between 250 ms and 5 s. `open` waits for at least 30 s, unless this is 0.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * The file size in bytes above which deliveries are refused: the call that would exceed it throws
   * `ERR_WBP_SQLITE_WRITE`. Stored deliveries are still processed, and may grow the file further, by about 50 bytes for
   * each remembered id and by the errors of dead letters. Completed deliveries that are kept count. The `-wal` file,
   * usually a few MiB, does not. An integer of at least 1; the file of an empty inbox takes about 64 KiB. Default: no
   * limit but the disk.
   */
  maxFileBytes?: number | undefined;
  /**
   * The size of the `-wal` file in bytes above which deliveries are refused with `ERR_WBP_SQLITE_LOCKED`. SQLite cannot
   * empty this file during a long read, such as an open transaction in a shell. Stored deliveries are still completed.
   * An integer of at least 16,777,216. Default: 1,073,741,824.
   */
  maxWalBytes?: number | undefined;
  /**
   * Whether the file is open in a worker thread. With `false`, calls block the event loop until the disk responds.
   * Default: `true` if the file of the thread is beside the code of this package. Only a bundler separates them.
   */
  thread?: boolean | undefined;
  /**
   * Whether the file is also the database of the application: it may have other tables, and its header stays as it is. The
   * names of the store's own tables must be free: `contents`, `queue`, `shelf`, `owners`, `totals`, `heads`, `paused`,
   * `buckets`, `remembered`, `kept`, `completed` and `webhook_inbox`. The journal mode becomes WAL. Default `false`: a file with other tables
   * is refused, since its path is probably wrong.
   */
  applicationFile?: boolean | undefined;
  /**
   * The library that opens the file: the one by which the application opens it in the same process, since two copies of
   * SQLite in one process do not see the locks of each other. `node:sqlite`, or the package `libsql` or `better-sqlite3`,
   * which must be installed. All stores of a process use the same one. Default: `node:sqlite` if its version is new enough,
   * else `libsql`.
   */
  driver?: 'node:sqlite' | 'libsql' | 'better-sqlite3' | undefined;
}

/** Validated options. */
export interface Settings extends Readonly<Omit<SqliteStoreOptions, 'maxWalBytes'>> {
  readonly maxWalBytes: number;
}

const MAX_BUSY_TIMEOUT_MS = 60_000;
const DEFAULT_WAL_BYTES = 1_073_741_824;
const MIN_WAL_BYTES = 16_777_216;
/** SQLite and libsql would not open a file of this name. */
const NOT_A_FILE = /^(?::memory:$|(?:file|libsql|https?|wss?):)/i;

/** Validates options, also of callers without types. */
export function settle(options: unknown): Settings {
  checkNames(options, 'options', [
    ...(['path', 'busyTimeoutMs', 'maxFileBytes', 'maxWalBytes', 'thread'] as const),
    ...(['applicationFile', 'driver'] as const),
  ]);
  const { path, busyTimeoutMs, maxFileBytes, maxWalBytes, thread, applicationFile, driver } =
    options as Record<keyof SqliteStoreOptions, unknown>;
  if (typeof path !== 'string' || path === '' || path.includes('\0') || NOT_A_FILE.test(path)) {
    const type = path === undefined ? 'undefined' : `of type ${typeof path}`;
    const given = typeof path === 'string' ? JSON.stringify(path) : type;
    throw new BackpressureError('ERR_WBP_SQLITE_PATH', `path must be a file path, but was ${given}.`);
  }
  if (thread !== undefined) checkBoolean('ERR_WBP_SQLITE_THREAD', 'thread', thread);
  if (applicationFile !== undefined)
    checkBoolean('ERR_WBP_SQLITE_APPLICATION_FILE', 'applicationFile', applicationFile);
  if (driver !== undefined) checkOneOf('ERR_WBP_SQLITE_DRIVER', 'driver', driver, DRIVERS);
  const { MAX_SAFE_INTEGER: most } = Number;
  return {
    path: resolve(path),
    busyTimeoutMs: integer(
      'ERR_WBP_SQLITE_BUSY_TIMEOUT',
      'busyTimeoutMs',
      busyTimeoutMs,
      0,
      MAX_BUSY_TIMEOUT_MS,
    ),
    maxFileBytes: integer('ERR_WBP_SQLITE_MAX_FILE', 'maxFileBytes', maxFileBytes, 1, most),
    maxWalBytes:
      integer('ERR_WBP_SQLITE_MAX_WAL', 'maxWalBytes', maxWalBytes, MIN_WAL_BYTES, most) ?? DEFAULT_WAL_BYTES,
    thread: thread as boolean | undefined,
    applicationFile: applicationFile as boolean | undefined,
    driver: driver as DriverName | undefined,
  };
}

function integer(
  code: BackpressureErrorCode,
  name: string,
  value: unknown,
  least: number,
  most: number,
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  const from = least.toLocaleString('en');
  const range =
    most === Number.MAX_SAFE_INTEGER ? `of at least ${from}` : `from ${from} to ${most.toLocaleString('en')}`;
  throw invalid(code, name, `an integer ${range}`, value);
}
