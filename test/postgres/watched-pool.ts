import type { PostgresClient, PostgresPool } from '@webhook-backpressure/postgres';
import type { PostgresBed } from './bed.ts';

/** A row of an answer. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A pool that shows the test each answer of the server, and waits for it before it passes the answer on.
 *
 * @param ask - called before a statement is sent.
 */
export function watchedPool(
  { pool }: PostgresBed,
  see: (text: string, rows: readonly Row[]) => unknown,
  ask: (text: string) => void = () => undefined,
): PostgresPool {
  return {
    connect: async (): Promise<PostgresClient> => {
      const client = await pool.connect();
      return {
        query: async (asked) => {
          ask(asked.text);
          const result = await client.query<Row>(asked);
          await see(asked.text, result.rows);
          return result;
        },
        release: (isBroken) => {
          client.release(isBroken);
        },
        on: client.on.bind(client),
        off: (event, listener) => client.off(event, listener),
      };
    },
  };
}
