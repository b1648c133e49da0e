import { resolve } from 'node:path';
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
   * How long a call waits while another process writes to the file, in milliseconds. The process stands still
   * meanwhile; then the call throws `ERR_WBP_SQLITE_LOCKED`, and those after it wait for a tenth of that, until one has
   * got the lock. An integer from 0 to 60,000, default 250: stores that share a
   * file hardly ever wait for each other for a tenth of that, and whoever holds the lock for longer is no store.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * How large deliveries may make the file, in bytes; where one needs more, its call throws `ERR_WBP_SQLITE_WRITE`. What
   * is stored is worked off all the same, for which the file may grow past this: by the ids that are remembered, about 50
   * bytes each, and by what the shelf notes of each delivery. Completed deliveries that are kept take part of it. The `-wal` file beside it, usually a few MiB, comes on
   * top as well. An integer, at least 1; an empty inbox takes some 64 KiB. Default: until the disk is full.
   */
  maxFileBytes?: number | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly maxFileBytes: number | undefined;
}

const NAMES: readonly (keyof SqliteStoreOptions)[] = ['path', 'busyTimeoutMs', 'maxFileBytes'];
const DEFAULT_BUSY_TIMEOUT_MS = 250;
const MAX_BUSY_TIMEOUT_MS = 60_000;
/** Another kind of database to SQLite or libsql, and so never a file of this name. */
const NOT_A_FILE = /^(?::memory:$|(?:file|libsql|https?|wss?):)/i;

/** Checks what users give, whatever the types say. */
export function settle(options: unknown): Settings {
  checkNames(options, 'options', NAMES);
  const { path, busyTimeoutMs, maxFileBytes } = options as Record<keyof SqliteStoreOptions, unknown>;
  if (typeof path !== 'string' || path === '' || path.includes('\0') || NOT_A_FILE.test(path))
    throw new BackpressureError(
      'ERR_WBP_SQLITE_PATH',
      `path must be the path of a file, but was ${typeof path === 'string' ? JSON.stringify(path) : typeof path}.`,
    );
  return {
    path: resolve(path),
    busyTimeoutMs:
      busyTimeoutMs === undefined
        ? DEFAULT_BUSY_TIMEOUT_MS
        : integer('ERR_WBP_SQLITE_BUSY_TIMEOUT', 'busyTimeoutMs', busyTimeoutMs, 0, MAX_BUSY_TIMEOUT_MS),
    maxFileBytes:
      maxFileBytes === undefined
        ? undefined
        : integer('ERR_WBP_SQLITE_MAX_FILE', 'maxFileBytes', maxFileBytes, 1, Number.MAX_SAFE_INTEGER),
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
  throw new BackpressureError(
    code,
    `${name} must be an integer from ${String(least)} to ${String(most)}, but was ${String(value)}.`,
  );
}
