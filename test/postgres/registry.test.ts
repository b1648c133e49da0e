import pg from 'pg';
import { postgresRegistry } from '@webhook-backpressure/postgres';
import { describe } from 'vitest';
import { describeRegistry } from '../core/fleet/registry-suite.ts';
import { isSkipped, PostgresBed } from './bed.ts';

describe.skipIf(isSkipped)('on PostgreSQL', () => {
  describeRegistry('postgresRegistry', () => {
    const bed = new PostgresBed();
    const { schema } = bed;
    const pools: pg.Pool[] = [];
    return {
      registry: () => {
        const pool = new pg.Pool({ connectionString: bed.connectionString, max: 1 });
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
