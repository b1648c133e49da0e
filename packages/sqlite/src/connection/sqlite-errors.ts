import { statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/base';

/** Primary result codes of SQLite, as its documentation numbers them. */
const RESULT = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  TOOBIG: 18,
  CONSTRAINT: 19,
  MISMATCH: 20,
  RANGE: 25,
  NOTADB: 26,
};

const UNSTORABLE = ['ERR_WBP_STORE_VALUE', 'cannot store a value that it was given'] as const;

const EXPLANATIONS = new Map<number, readonly [BackpressureErrorCode, string]>([
  [RESULT.TOOBIG, UNSTORABLE],
  [RESULT.CONSTRAINT, UNSTORABLE],
  [RESULT.MISMATCH, UNSTORABLE],
  [RESULT.RANGE, UNSTORABLE],
  [RESULT.BUSY, ['ERR_WBP_SQLITE_LOCKED', 'is locked by another process']],
  [RESULT.LOCKED, ['ERR_WBP_SQLITE_LOCKED', 'is locked by another process']],
  [RESULT.READONLY, ['ERR_WBP_SQLITE_WRITE', 'cannot be written: it or its folder is read-only']],
  [RESULT.IOERR, ['ERR_WBP_SQLITE_WRITE', 'cannot be read or written: the disk reports an error']],
  [RESULT.FULL, ['ERR_WBP_SQLITE_WRITE', 'cannot grow: the disk is full, or maxFileBytes is reached']],
  [RESULT.CORRUPT, ['ERR_WBP_SQLITE_DAMAGED', 'is damaged']],
  [RESULT.NOTADB, ['ERR_WBP_SQLITE_DAMAGED', 'is not a SQLite file, or its header is damaged']],
]);

/** Extended result codes use the higher bits. */
const PRIMARY = 0xff;

/** The primary result code of SQLite in an error of either library, if it has one. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  // Of libsql, then of node:sqlite.
  if ('rawCode' in error && typeof error.rawCode === 'number') return error.rawCode & PRIMARY;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & PRIMARY;
  // Of better-sqlite3, such as SQLITE_BUSY_SNAPSHOT.
  const name = 'code' in error ? /^SQLITE_([A-Z]+)/.exec(String(error.code))?.[1] : undefined;
  if (name !== undefined) return RESULT[name as keyof typeof RESULT];
  // If libsql cannot open a file, the code is only in the message, at its end.
  const code = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message)?.[1];
  return code === undefined ? undefined : Number(code) & PRIMARY;
}

/** Messages of libsql and of node:sqlite for a value that cannot be bound to a parameter. */
const UNBINDABLE =
  /can only bind|Loss of precision|cannot be bound to SQLite parameter|too large to bind|Unknown named parameter/;

function isUnbindable(error: unknown): boolean {
  return error instanceof Error && UNBINDABLE.test(error.message);
}

/** Whether another connection holds the lock. */
export function isLocked(error: unknown): boolean {
  if (error instanceof BackpressureError) return error.code === 'ERR_WBP_SQLITE_LOCKED';
  const code = resultCode(error);
  return code === RESULT.BUSY || code === RESULT.LOCKED;
}

/** Whether the disk failed to read or write. A full disk is no such failure: earlier writes are kept. */
export function isDiskError(error: unknown): boolean {
  return error instanceof BackpressureError && resultCode(error.cause) === RESULT.IOERR;
}

/** Whether the contents of the file are corrupt. */
export function isDamage(error: unknown): boolean {
  return error instanceof BackpressureError && error.code === 'ERR_WBP_SQLITE_DAMAGED';
}

/** For a checkpoint that a long read prevents. */
export function lockedByReader(path: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_SQLITE_LOCKED',
    `${path} is locked: another process reads or writes it, so its -wal file cannot be emptied.`,
  );
}

/** Converts an error of SQLite to one of this library. Returns any other error unchanged. */
export function explain(error: unknown, path: string): unknown {
  const code = resultCode(error);
  if (code === undefined && !isUnbindable(error)) return error;
  if (code === RESULT.CANTOPEN)
    return new BackpressureError('ERR_WBP_SQLITE_OPEN', whyNotOpened(path), { cause: error });
  const [known, state] = (code === undefined ? UNSTORABLE : EXPLANATIONS.get(code)) ?? [
    'ERR_WBP_SQLITE_WRITE',
    'cannot be read or written',
  ];
  const reason = (error as Error).message;
  return new BackpressureError(known, `${path} ${state} (SQLite: ${reason}).`, { cause: error });
}

/** SQLite itself only says that it could not open the file. */
function whyNotOpened(path: string): string {
  const directory = dirname(path);
  const found = statOf(path);
  if (statOf(directory) === 'ENOENT') return `The directory ${directory} does not exist.`;
  if (typeof found !== 'string' && found.isDirectory()) return `${path} is a directory, not a file.`;
  return `${path} cannot be opened: it or its directory is read-only, or this user may not read and write them.`;
}

/** The code of the error if there is none. */
function statOf(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
