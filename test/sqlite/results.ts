import type { BackpressureError } from '@webhook-backpressure/core';
import { anotherProgram } from './broken-files.ts';

/** Primary result codes of SQLite. */
export const RESULT = { busy: 5, corrupt: 11, full: 13 } as const;

/** The one that an error was caused by, by whichever library it came. */
export function causeOf({ cause }: BackpressureError): number {
  const { rawCode, errcode } = cause as { rawCode?: number; errcode?: number };
  return Number(rawCode ?? errcode) & 0xff;
}

/** `[['ok']]` of a file that is sound. */
export function integrityOf(path: string): unknown {
  const database = anotherProgram(path);
  const found = database.prepare('PRAGMA integrity_check').all([]);
  database.close();
  return found;
}
