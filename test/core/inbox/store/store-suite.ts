import { afterEach, beforeEach, describe } from 'vitest';
import type { BedOf, StoreBed } from '../store-bed.ts';
import { claims } from './cases/claims.ts';
import { contents } from './cases/contents.ts';
import { dueKeys } from './cases/due-keys.ts';
import { headClaims } from './cases/head-claims.ts';
import { heldLimits } from './cases/held-limits.ts';
import { keyClaims } from './cases/key-claims.ts';
import { model } from './cases/model.ts';
import { newestClaims } from './cases/newest-claims.ts';
import { order } from './cases/order.ts';
import { passing } from './cases/pauses.ts';
import { puts } from './cases/puts.ts';
import { retention } from './cases/retention.ts';
import { settlements } from './cases/settlements.ts';
import { transactions } from './cases/transactions.ts';
import { shelf } from './cases/dead-letters.ts';

/**
 * The behavior that every store must have. `makeBed` is called for each test.
 *
 * @param modelRuns - how many times the store is compared with a model: fewer for a store that opens slowly.
 */
export function storeSuite(name: string, makeBed: () => StoreBed | Promise<StoreBed>, modelRuns = 100): void {
  describe(name, () => {
    let bed: StoreBed;
    beforeEach(async () => {
      bed = await makeBed();
    });
    afterEach(() => bed.dispose());

    const current: BedOf = () => bed;
    puts(current);
    claims(current);
    keyClaims(current);
    headClaims(current);
    heldLimits(current);
    newestClaims(current);
    dueKeys(current);
    passing(current);
    order(current);
    settlements(current);
    shelf(current);
    retention(current);
    contents(current);
    transactions(current);
    model(makeBed, modelRuns);
  });
}
