import Database from 'libsql';
import { idHash } from '../../packages/sqlite/src/tables/contents.ts';
import type { Ref } from './handler-log.ts';

/** The contents of a store, read without it. */
export interface Stored {
  /** Completed ids, in the form in which the store remembers them. */
  readonly completed: readonly string[];
  readonly deadLetters: readonly string[];
  readonly unfinished: number;
}

export interface StoredInFile extends Stored {
  readonly integrity: string;
}

/** The form in which the file remembers a completed id. */
export function rememberedOf(ref: Ref): string {
  return Buffer.from(idHash(ref)).toString('hex');
}

export function readFile(file: string): StoredInFile {
  const database = new Database(file);
  const ids = (sql: string): string[] => (database.prepare(sql).raw().all() as [string][]).map(([id]) => id);
  try {
    return {
      completed: ids('SELECT lower(hex(hash)) FROM remembered'),
      deadLetters: ids('SELECT id FROM shelf'),
      unfinished: ids('SELECT seq FROM queue').length,
      integrity: ids('PRAGMA integrity_check').join(),
    };
  } finally {
    database.close();
  }
}
