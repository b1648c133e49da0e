import type { InboxStore } from '@webhook-backpressure/inbox';
import { describe } from 'vitest';
import { loadNodeSqlite, useDriver } from '../../packages/sqlite/src/connection/drivers.ts';
import { settle } from '../../packages/sqlite/src/options.ts';
import { fileStore } from '../../packages/sqlite/src/store/file-store.ts';
import { ThreadedStore } from '../../packages/sqlite/src/thread/threaded-store.ts';
import type { ClientTransaction, StoreBed } from '../core/inbox/store-bed.ts';
import { storeSuite } from '../core/inbox/store/store-suite.ts';
import { isLong } from '../long.ts';
import { openBy } from './clients.ts';
import { Scratch } from './scratch.ts';

const drivers = loadNodeSqlite() === undefined ? (['libsql'] as const) : (['libsql', 'node:sqlite'] as const);

/** Fewer runs than in memory, since each makes a file, and fewer still where it starts two threads around it. */
const MODEL_RUNS = 15;
const MODEL_RUNS_IN_THREADS = 10;

let openClient = openBy.libsql;

/** By a connection of the driver that the test uses. */
function transactionOf(scratch: Scratch): Promise<ClientTransaction> {
  const client = openClient(scratch.file());
  scratch.defer(() => {
    client.close();
  });
  const end = (sql: string) => () => {
    client.exec(sql);
    return Promise.resolve();
  };
  client.exec('BEGIN IMMEDIATE');
  return Promise.resolve({ client, commit: end('COMMIT'), rollBack: end('ROLLBACK') });
}

function inThisThread(driver: (typeof drivers)[number]): StoreBed {
  useDriver(driver);
  openClient = openBy[driver];
  const scratch = new Scratch();
  return {
    store: () => fileStore(settle({ path: scratch.file() })),
    transaction: () => transactionOf(scratch),
    dispose: () => {
      scratch.dispose();
    },
  };
}

function inItsOwnThread(driver: (typeof drivers)[number]): StoreBed {
  openClient = openBy[driver];
  const scratch = new Scratch();
  const stores: InboxStore[] = [];
  return {
    store: () => {
      const store = new ThreadedStore(settle({ path: scratch.file() }), driver);
      stores.push(store);
      return store;
    },
    transaction: () => transactionOf(scratch),
    dispose: async () => {
      // Some may be closed already.
      await Promise.allSettled(stores.map(async (store) => store.close(0)));
      scratch.dispose();
    },
  };
}

describe.each(drivers)('by %s', (driver) => {
  storeSuite('in this thread', () => inThisThread(driver), MODEL_RUNS);
  // The same store behind messages: each test starts a thread, which takes most of its time.
  if (isLong) storeSuite('in its own thread', () => inItsOwnThread(driver), MODEL_RUNS_IN_THREADS);
});
