import { encodeText } from '../records/text.ts';
import type { Server } from '../server/server.ts';

/** What is paused, for every owner. */
export class Pauses {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async pause(key: string | null): Promise<boolean> {
    const rows = await this.#server.query(
      `INSERT INTO ${this.#server.schema}.paused (scope, key) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1`,
      valuesOf(key),
    );
    return rows.length > 0;
  }

  async resume(key: string | null): Promise<boolean> {
    const rows = await this.#server.query(
      `DELETE FROM ${this.#server.schema}.paused WHERE scope = $1 AND key = $2 RETURNING 1`,
      valuesOf(key),
    );
    return rows.length > 0;
  }
}

function valuesOf(key: string | null): readonly string[] {
  return key === null ? ['all', ''] : ['key', encodeText(key)];
}
