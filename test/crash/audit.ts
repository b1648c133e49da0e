import { readFileSync } from 'node:fs';
import Database from 'libsql';
import { idHash } from '../../packages/sqlite/src/tables/id-hash.ts';

/** The log of the handlers. */
export interface Handled {
  /** Ids whose handler finished. */
  readonly ended: ReadonlySet<string>;
  /** For each life, how many handlers were started again in a later one. */
  readonly repeatedAfter: readonly number[];
  /** How many times each id was started. */
  readonly starts: ReadonlyMap<string, number>;
}

export function readLog(log: string): Handled {
  const ended = new Set<string>();
  const starts = new Map<string, number>();
  const lastLife = new Map<string, number>();
  const repeatedAfter: number[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (line === '') continue;
    const [what, id] = JSON.parse(line) as ['life' | 'start' | 'end', string];
    if (what === 'life') repeatedAfter.push(0);
    if (what === 'end') ended.add(id);
    if (what !== 'start') continue;
    const life = repeatedAfter.length - 1;
    const before = lastLife.get(id);
    if (before !== undefined) repeatedAfter[before] = (repeatedAfter[before] ?? 0) + 1;
    lastLife.set(id, life);
    starts.set(id, (starts.get(id) ?? 0) + 1);
  }
  return { ended, repeatedAfter, starts };
}

/** The contents of the file, read without the store. */
export interface Stored {
  /** Completed ids, in the form of {@link rememberedAs}. */
  readonly completed: readonly string[];
  readonly shelved: readonly string[];
  readonly unfinished: number;
  readonly integrity: string;
}

/** The form in which the file remembers a completed id. All deliveries here have the same key. */
export function rememberedAs(id: string): string {
  return Buffer.from(idHash({ key: 'default', id })).toString('hex');
}

export function readFile(file: string): Stored {
  const database = new Database(file);
  const ids = (sql: string): string[] => (database.prepare(sql).raw().all() as [string][]).map(([id]) => id);
  try {
    return {
      completed: ids('SELECT lower(hex(hash)) FROM remembered'),
      shelved: ids('SELECT id FROM shelf'),
      unfinished: ids('SELECT seq FROM queue').length,
      integrity: ids('PRAGMA integrity_check').join(),
    };
  } finally {
    database.close();
  }
}
