import type { StoreStats } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { decodeText, encodeText } from './text.ts';

/** The active pauses. */
export interface Paused {
  readonly isAll: boolean;
  /** Encoded as stored. */
  readonly keys: readonly string[];
}

const NOTHING: Paused = { isAll: false, keys: [] };

/** Pauses of the inbox and of single keys, which all processes obey. */
export class Pauses {
  readonly #connection: Connection;
  readonly #read: Statement;
  readonly #add: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection) {
    this.#connection = connection;
    // One row, since each claim runs this query, and returning several rows would cost more than decoding one.
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
