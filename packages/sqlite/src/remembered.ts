import type { Connection, Statement } from './connection.ts';
import type { Totals } from './totals.ts';

/** The ids that were completed, by which a repetition is known. */
export class Remembered {
  readonly #totals: Totals;
  readonly #countBefore: Statement;
  readonly #forget: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    this.#countBefore = connection.prepare(
      'SELECT count(*) FROM (SELECT 1 FROM completed WHERE completed_ms < ? LIMIT ?)',
    );
    this.#forget = connection.prepare(
      `DELETE FROM completed WHERE (key, id) IN (
        SELECT key, id FROM completed ORDER BY completed_ms LIMIT ?
      )`,
    );
  }

  forget({ beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number }): number {
    return this.#totals.transaction((changes) => {
      const [old] = this.#countBefore.get([beforeMs, limit]) as [number];
      const count = Math.min(limit, Math.max(old, this.#totals.read().remembered - keep));
      const forgotten = count <= 0 ? 0 : this.#forget.run([count]);
      changes.remembered -= forgotten;
      return forgotten;
    });
  }
}
