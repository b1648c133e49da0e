import { appendFileSync } from 'node:fs';
import type { InboxDelivery } from '@webhook-backpressure/inbox';
import { ConnectionPool } from './pool.ts';
import { POOL } from './setup.ts';

/**
 * What a worker does with a delivery: about 50 ms of work, then a line in the ledger, with the process that wrote it.
 * The line cannot be taken back, as an e-mail cannot.
 */
export function fleetHandler(ledgerPath: string): (delivery: InboxDelivery) => Promise<void> {
  const pool = new ConnectionPool(POOL);
  return async ({ id }) => {
    const connection = await pool.connect();
    try {
      await connection.query();
      appendFileSync(ledgerPath, `${id} ${String(process.pid)}\n`);
    } finally {
      connection.release();
    }
  };
}
