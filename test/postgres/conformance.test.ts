import { describe } from 'vitest';
import { storeSuite } from '../core/inbox/store/store-suite.ts';
import { isLong } from '../long.ts';
import { isSkipped, PostgresBed } from './bed.ts';

/** Fewer runs, since each creates a schema. */
const MODEL_RUNS = isLong ? 15 : 6;

describe.skipIf(isSkipped)('postgresStore', () => {
  storeSuite('on a real server', () => new PostgresBed({ isReused: true }), MODEL_RUNS);
  // It differs in how connections are used, which test/postgres/pgbouncer.test.ts checks behind PgBouncer.
  if (isLong)
    storeSuite(
      'behind a pool of connections',
      () => new PostgresBed({ pooled: true, isReused: true }),
      MODEL_RUNS,
    );
});
