import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresStore, type PostgresClient } from '@webhook-backpressure/postgres';
import type { PostgresBed } from './bed.ts';

type Query = Parameters<PostgresClient['query']>[0];

/** A store whose puts are committed when the test says so, and which counts them. */
export class HeldCommits {
  readonly store: InboxStore;
  /** How many puts the server was asked for, repetitions included. */
  puts = 0;
  #commit: () => void = () => undefined;
  #held: Promise<void> = Promise.resolve();

  constructor({ schema, pool }: PostgresBed) {
    this.store = postgresStore(
      {
        pool: {
          connect: async (): Promise<PostgresClient> => {
            const client = await pool.connect();
            const query = async (asked: Query): Promise<{ rows: unknown[] }> => {
              if (!asked.text.includes('.put_v1($1')) return await client.query(asked);
              this.puts += 1;
              await client.query('BEGIN');
              try {
                const result = await client.query(asked);
                await this.#held;
                await client.query('COMMIT');
                return result;
              } catch (error) {
                await client.query('ROLLBACK');
                throw error;
              }
            };
            return {
              query,
              release: (isBroken) => {
                client.release(isBroken);
              },
              on: client.on.bind(client),
              off: (event, listener) => client.off(event, listener),
            };
          },
        },
      },
      { schema },
    );
  }

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#commit = resolve;
    });
  }

  commit(): void {
    this.#commit();
  }
}

/** Waits until so many sessions wait for a lock, or one of the calls has ended. */
export async function blocked(
  { pool, schema }: PostgresBed,
  sessions: number,
  calls: readonly Promise<unknown>[],
): Promise<void> {
  const ended = { isAny: false };
  const note = (): void => {
    ended.isAny = true;
  };
  for (const call of calls) call.then(note, note);
  for (let waiting = 0; waiting < sessions && !ended.isAny;) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${schema}.%`],
    );
    waiting = rows[0]?.count ?? 0;
  }
}

/** Waits until a put is stored and not committed. */
export async function uncommitted({ pool, schema }: PostgresBed): Promise<void> {
  for (let open = 0; open === 0;) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE $1`,
      [`%${schema}.put_v1%`],
    );
    open = rows[0]?.count ?? 0;
  }
}
