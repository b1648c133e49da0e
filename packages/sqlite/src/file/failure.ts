import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/core';

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

const UNKEPT = ['ERR_WBP_STORE_VALUE', 'cannot keep what it was given'] as const;

const EXPLANATIONS = new Map<number, readonly [BackpressureErrorCode, string]>([
  [RESULT.TOOBIG, UNKEPT],
  [RESULT.CONSTRAINT, UNKEPT],
  [RESULT.MISMATCH, UNKEPT],
  [RESULT.RANGE, UNKEPT],
  [RESULT.BUSY, ['ERR_WBP_SQLITE_LOCKED', 'is locked by another process']],
  [RESULT.LOCKED, ['ERR_WBP_SQLITE_LOCKED', 'is locked by another process']],
  [RESULT.READONLY, ['ERR_WBP_SQLITE_WRITE', 'cannot be written: it or its folder is read-only']],
  [RESULT.IOERR, ['ERR_WBP_SQLITE_WRITE', 'cannot be read or written: the disk reports an error']],
  [RESULT.FULL, ['ERR_WBP_SQLITE_WRITE', 'cannot grow: the disk is full, or maxFileBytes is reached']],
  [RESULT.CORRUPT, ['ERR_WBP_SQLITE_DAMAGED', 'is damaged']],
  [RESULT.NOTADB, ['ERR_WBP_SQLITE_DAMAGED', 'is no SQLite file, or its beginning is damaged']],
]);

/** The extended codes carry more in the bits above these. */
const PRIMARY = 0xff;

/** The primary result code of SQLite that an error of either library carries, if it is one. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  // libsql and node:sqlite each have a name of their own for it.
  if ('rawCode' in error && typeof error.rawCode === 'number') return error.rawCode & PRIMARY;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & PRIMARY;
  // A file that cannot be opened libsql tells in words, with the code at the end.
  const code = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message)?.[1];
  return code === undefined ? undefined : Number(code) & PRIMARY;
}

/** Whether it comes from a library, which takes no value but a few kinds for a parameter: libsql, then node:sqlite. */
const UNBINDABLE =
  /can only bind|Loss of precision|cannot be bound to SQLite parameter|too large to bind|Unknown named parameter/;

function isUnbindable(error: unknown): boolean {
  return error instanceof Error && UNBINDABLE.test(error.message);
}

/** Whether somebody else holds the lock that was asked for. */
export function isLocked(error: unknown): boolean {
  if (error instanceof BackpressureError) return error.code === 'ERR_WBP_SQLITE_LOCKED';
  const code = resultCode(error);
  return code === RESULT.BUSY || code === RESULT.LOCKED;
}

/** Whether the disk has failed to read or write something. A disk that is full has not: what it took it keeps. */
export function isDiskError(error: unknown): boolean {
  return error instanceof BackpressureError && resultCode(error.cause) === RESULT.IOERR;
}

/** Whether what is in the file cannot be what was written to it. */
export function isDamage(error: unknown): boolean {
  return error instanceof BackpressureError && error.code === 'ERR_WBP_SQLITE_DAMAGED';
}

/** Somebody reads, and has done so for long: what has changed since then cannot be moved out of the log. */
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
  const [known, state] = (code === undefined ? UNKEPT : EXPLANATIONS.get(code)) ?? [
    'ERR_WBP_SQLITE_WRITE',
    'cannot be read or written',
  ];
  const reason = (error as Error).message;
  return new BackpressureError(known, `${path} ${state} (SQLite: ${reason}).`, { cause: error });
}

/** SQLite itself only says that it could not open the file. */
function whyNotOpened(path: string): string {
  const directory = dirname(path);
  if (isMissing(directory)) return `The directory ${directory} does not exist.`;
  if (isDirectory(path)) return `${path} is a directory, not a file.`;
  return `${path} cannot be opened: check that this user may read and write it and its directory.`;
}

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
