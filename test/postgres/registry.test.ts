import pg from 'pg';
import { postgresRegistry } from '@webhook-backpressure/postgres';
import { describe } from 'vitest';
import { describeRegistry } from '../core/fleet/registry-suite.ts';
import { isSkipped, PostgresBed } from './bed.ts';

// By default, and as some applications set it for their database.
const LEVELS = ['read committed', 'repeatable read', 'serializable'];

describe.skipIf(isSkipped).each(LEVELS)('on PostgreSQL with %s transactions', (level) => {
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;

  describeRegistry('postgresRegistry', () => {
    const bed = new PostgresBed({ isReused: true });
    const { schema } = bed;
    const pools: pg.Pool[] = [];
    return {
      registry: () => {
        const pool = new pg.Pool({ connectionString: bed.connectionString, options, max: 1 });
        pools.push(pool);
        return postgresRegistry(pool, { schema });
      },
      age: async (ms) => {
        for (const table of ['fleet_members', 'fleet_news']) {
          await bed.pool.query(
            `UPDATE ${schema}.${table} SET written_at = written_at - $1::double precision * interval '1 ms'`,
            [ms],
          );
        }
      },
      dispose: async () => {
        await Promise.all(pools.map((pool) => pool.end()));
        await bed.dispose();
      },
    };
  });
});
