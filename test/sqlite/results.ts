import { BackpressureError } from '@webhook-backpressure/base';
import { expect } from 'vitest';
import { anotherProgram } from './broken-files.ts';

/** Primary result codes of SQLite. */
export const RESULT = { busy: 5, corrupt: 11, full: 13 } as const;

/** Calls a function that must fail. @returns its error. */
export async function thrownBy(action: () => unknown): Promise<BackpressureError> {
  try {
    await action();
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('nothing was thrown');
}

/** The result code of SQLite in the cause of an error, of either library. */
export function causeOf({ cause }: BackpressureError): number {
  const { rawCode, errcode } = cause as { rawCode?: number; errcode?: number };
  return Number(rawCode ?? errcode) & 0xff;
}

/** @returns `[['ok']]` for an intact file. */
export function integrityOf(path: string): unknown {
  const database = anotherProgram(path);
  const found = database.prepare('PRAGMA integrity_check').all([]);
  database.close();
  return found;
}
