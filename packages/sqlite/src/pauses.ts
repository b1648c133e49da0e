import type { StoreStats } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { decodeText, encodeText } from './text.ts';

/** What is paused. */
export interface Paused {
  readonly isAll: boolean;
  /** As they are stored. */
  readonly keys: readonly string[];
}

/** What is not to be claimed until somebody resumes it, by any process. */
export class Pauses {
  readonly #connection: Connection;
  readonly #read: Statement;
  readonly #add: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#read = connection.prepare('SELECT scope, key FROM paused');
    this.#add = connection.prepare('INSERT INTO paused (scope, key) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#remove = connection.prepare('DELETE FROM paused WHERE scope = ? AND key = ?');
  }

  read(): Paused {
    const rows = this.#read.all([]) as [scope: 'all' | 'key', key: string][];
    const keys = rows.filter(([scope]) => scope === 'key').map(([, key]) => key);
    return { isAll: keys.length < rows.length, keys };
  }

  stats(): Pick<StoreStats, 'isPaused' | 'pausedKeys'> {
    const { isAll, keys } = this.read();
    return { isPaused: isAll, pausedKeys: keys.map(decodeText) };
  }

  pause(key: string | null): boolean {
    return this.#connection.transaction(() => this.#add.run(rowOf(key))) === 1;
  }

  resume(key: string | null): boolean {
    return this.#connection.transaction(() => this.#remove.run(rowOf(key))) === 1;
  }
}

function rowOf(key: string | null): readonly [string, string] {
  return key === null ? ['all', ''] : ['key', encodeText(key)];
}
