import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { BackpressureError, checkNames, type BackpressureErrorCode } from '@webhook-backpressure/core';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The file, made when it is not there; its folder must be. SQLite keeps `-wal` and `-shm` files beside it, and each
   * store that is open a lock named `.owner-` and a number. All of them belong together, on a disk of this machine:
   * locks do not work on network file systems.
   */
  path: string;
  /**
   * How long a call waits while another process writes to the file, in milliseconds; then it throws
   * `ERR_WBP_SQLITE_LOCKED`, and those after it wait for a tenth of that, until one has got the lock. An integer from 0
   * to 60,000; with 0 nothing waits. Default: 200 times as long as a commit takes, at least 10 s and at most 60 s; where the store has no
   * thread, and the event loop stands still meanwhile, 20 times, at least 250 ms and at most 5 s. `open` tries for 30 s
   * at least, unless this is 0.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * How large deliveries may make the file, in bytes; where one needs more, its call throws `ERR_WBP_SQLITE_WRITE`. What
   * is stored is processed all the same, for which the file may grow past this: by the ids that are remembered, about 50
   * bytes each, and by what the shelf notes of each delivery. Completed deliveries that are kept take part of it. The `-wal` file beside it, usually a few MiB, comes on
   * top as well. An integer, at least 1; an empty inbox takes some 64 KiB. Default: until the disk is full.
   */
  maxFileBytes?: number | undefined;
  /**
   * How large the `-wal` file may get, in bytes, before nothing more is taken in. SQLite cannot empty it while somebody
   * reads the file without an end, such as a backup: then calls that store deliveries throw `ERR_WBP_SQLITE_LOCKED`
   * until the reader has gone. What is stored is completed all the same. An integer, at least 16,777,216. Default:
   * 1,073,741,824.
   */
  maxWalBytes?: number | undefined;
  /**
   * Whether the file is open in a thread of its store. Without one the process stands still until the disk has answered
   * each call. Default: true, where the thread's file stands beside the code of this package, as it does unless a bundler
   * has moved one of them.
   */
  thread?: boolean | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  readonly path: string;
  readonly busyTimeoutMs: number | undefined;
  readonly maxFileBytes: number | undefined;
  readonly maxWalBytes: number;
  readonly thread: boolean | undefined;
}

const NAMES: readonly (keyof SqliteStoreOptions)[] = [
  'path',
  'busyTimeoutMs',
  'maxFileBytes',
  'maxWalBytes',
  'thread',
];
const MAX_BUSY_TIMEOUT_MS = 60_000;
const DEFAULT_WAL_BYTES = 1_073_741_824;
const LEAST_WAL_BYTES = 16_777_216;
/** Another kind of database to SQLite or libsql, and so never a file of this name. */
const NOT_A_FILE = /^(?::memory:$|(?:file|libsql|https?|wss?):)/i;

/** Checks what users give, whatever the types say. */
export function settle(options: unknown): Settings {
  checkNames(options, 'options', NAMES);
  const { path, busyTimeoutMs, maxFileBytes, maxWalBytes, thread } = options as Record<
    keyof SqliteStoreOptions,
    unknown
  >;
  if (typeof path !== 'string' || path === '' || path.includes('\0') || NOT_A_FILE.test(path))
    throw new BackpressureError(
      'ERR_WBP_SQLITE_PATH',
      `path must be a file path, but was ${typeof path === 'string' ? JSON.stringify(path) : `of type ${typeof path}`}.`,
    );
  if (thread !== undefined && typeof thread !== 'boolean')
    throw new BackpressureError(
      'ERR_WBP_SQLITE_THREAD',
      `thread must be a boolean, but was of type ${typeof thread}.`,
    );
  return {
    path: resolve(path),
    busyTimeoutMs:
      busyTimeoutMs === undefined
        ? undefined
        : integer('ERR_WBP_SQLITE_BUSY_TIMEOUT', 'busyTimeoutMs', busyTimeoutMs, 0, MAX_BUSY_TIMEOUT_MS),
    maxFileBytes:
      maxFileBytes === undefined
        ? undefined
        : integer('ERR_WBP_SQLITE_MAX_FILE', 'maxFileBytes', maxFileBytes, 1, Number.MAX_SAFE_INTEGER),
    maxWalBytes:
      maxWalBytes === undefined
        ? DEFAULT_WAL_BYTES
        : integer(
            'ERR_WBP_SQLITE_MAX_WAL',
            'maxWalBytes',
            maxWalBytes,
            LEAST_WAL_BYTES,
            Number.MAX_SAFE_INTEGER,
          ),
    thread,
  };
}

function integer(
  code: BackpressureErrorCode,
  name: string,
  value: unknown,
  least: number,
  most: number,
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  const range =
    most === Number.MAX_SAFE_INTEGER
      ? `of at least ${least.toLocaleString('en')}`
      : `from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
  throw new BackpressureError(code, `${name} must be an integer ${range}, but was ${inspect(value)}.`);
}
