import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { answer } from '../pinned.ts';
import { startReceiver } from './receivers.ts';
import { POOL, QUERY_S, type Access, type ReceiverName } from './setup.ts';

/** What the receiver knows of its run. */
export interface ReceiverReport {
  /** Deliveries that the database stored, each as often as it did. */
  readonly handled: number;
  readonly failed: number;
  readonly peakRssBytes: number;
  /** When the database stored the last one, in milliseconds since 1970. */
  readonly lastHandledMs: number;
}

/** What to start, and the folder for its files. */
interface Start {
  readonly name: ReceiverName;
  readonly access: Access;
  readonly folder: string;
}

const RSS_EVERY_MS = 100;

let handled = 0;
let failed = 0;
let peakRssBytes = 0;
let lastHandledMs = 0;

async function start({ name, access, folder }: Start): Promise<number> {
  const pool = new Pool({ ...access });
  if (pool.options.max !== POOL) throw new Error(`The default of pg is ${String(pool.options.max)}.`);
  pool.on('error', () => {
    failed += 1;
  });
  setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
  }, RSS_EVERY_MS);

  const store = async (delivery: { id: string }): Promise<void> => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        'INSERT INTO orders (id, payload) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET handled = orders.handled + 1',
        [delivery.id, delivery],
      );
      await client.query('SELECT pg_sleep($1)', [QUERY_S]);
      await client.query('COMMIT');
      handled += 1;
      lastHandledMs = Date.now();
    } catch (error) {
      failed += 1;
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  const server = await startReceiver(name, store, folder);
  return (server.address() as AddressInfo).port;
}

answer((question: Start | 'report'): unknown =>
  question === 'report'
    ? ({ handled, failed, peakRssBytes, lastHandledMs } satisfies ReceiverReport)
    : start(question),
);
