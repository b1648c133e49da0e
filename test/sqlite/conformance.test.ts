import { sqliteStore } from '@webhook-backpressure/sqlite';
import { storeSuite } from '../inbox/store-suite.ts';
import { Scratch } from './scratch.ts';

storeSuite('sqliteStore', () => {
  const scratch = new Scratch();
  return {
    store: () => sqliteStore({ path: scratch.file() }),
    dispose: () => {
      scratch.dispose();
    },
  };
});
