import type { StoreStats } from '@webhook-backpressure/core';
import type { Connection, Statement } from '../file/connection.ts';
import { decodeText, encodeText } from './text.ts';

/** What is paused. */
export interface Paused {
  readonly isAll: boolean;
  /** As they are stored. */
  readonly keys: readonly string[];
}

const NOTHING: Paused = { isAll: false, keys: [] };

/** What is not to be claimed until somebody resumes it, by any process. */
export class Pauses {
  readonly #connection: Connection;
  readonly #read: Statement;
  readonly #add: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection) {
    this.#connection = connection;
    // One row, also of none: it is asked with each claim, and several rows cost more than what they hold.
    this.#read = connection.prepare('SELECT json_group_array(json_array(scope, key)) FROM paused');
    this.#add = connection.prepare('INSERT INTO paused (scope, key) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#remove = connection.prepare('DELETE FROM paused WHERE scope = ? AND key = ?');
  }

  read(): Paused {
    const [list] = this.#read.get([]) as [string];
    if (list === '[]') return NOTHING;
    const rows = JSON.parse(list) as [scope: 'all' | 'key', key: string][];
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
