import type { InboxStore } from '@webhook-backpressure/core';
import { describe } from 'vitest';
import { useDriver, type DriverName } from '../../packages/sqlite/src/drivers/choose.ts';
import { loadNodeSqlite } from '../../packages/sqlite/src/drivers/node-sqlite.ts';
import { fileStore } from '../../packages/sqlite/src/file-store.ts';
import { settle } from '../../packages/sqlite/src/options.ts';
import { ThreadedStore } from '../../packages/sqlite/src/thread/threaded-store.ts';
import { storeSuite } from '../inbox/store-suite.ts';
import { Scratch } from './scratch.ts';

const drivers: readonly DriverName[] =
  loadNodeSqlite() === undefined ? ['libsql'] : ['libsql', 'node:sqlite'];

describe.each(drivers)('by %s', (driver) => {
  storeSuite('in this thread', () => {
    useDriver(driver);
    const scratch = new Scratch();
    return {
      store: () => fileStore(settle({ path: scratch.file() })),
      dispose: () => {
        scratch.dispose();
      },
    };
  });

  storeSuite('in a thread of its own', () => {
    const scratch = new Scratch();
    const stores: InboxStore[] = [];
    return {
      store: () => {
        const store = new ThreadedStore(settle({ path: scratch.file() }), driver);
        stores.push(store);
        return store;
      },
      dispose: async () => {
        // A test may have closed some of them.
        await Promise.allSettled(stores.map(async (store) => store.close(0)));
        scratch.dispose();
      },
    };
  });
});
