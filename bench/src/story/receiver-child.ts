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
}

const RSS_EVERY_MS = 100;

let handled = 0;
let failed = 0;
let peakRssBytes = 0;

async function start({ name, access }: { name: ReceiverName; access: Access }): Promise<number> {
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
    } catch (error) {
      failed += 1;
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  const server = await startReceiver(name, store);
  return (server.address() as AddressInfo).port;
}

answer((question: { name: ReceiverName; access: Access } | 'report'): unknown =>
  question === 'report' ? ({ handled, failed, peakRssBytes } satisfies ReceiverReport) : start(question),
);
