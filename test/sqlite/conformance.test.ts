import { sqliteStore } from '@webhook-backpressure/sqlite';
import { describe } from 'vitest';
import { useDriver, type DriverName } from '../../packages/sqlite/src/drivers/choose.ts';
import { loadNodeSqlite } from '../../packages/sqlite/src/drivers/node-sqlite.ts';
import { storeSuite } from '../inbox/store-suite.ts';
import { Scratch } from './scratch.ts';

const drivers: readonly DriverName[] =
  loadNodeSqlite() === undefined ? ['libsql'] : ['libsql', 'node:sqlite'];

describe.each(drivers)('by %s', (driver) => {
  storeSuite('sqliteStore', () => {
    useDriver(driver);
    const scratch = new Scratch();
    return {
      store: () => sqliteStore({ path: scratch.file() }),
      dispose: () => {
        scratch.dispose();
      },
    };
  });
});
