import { EventEmitter, once } from 'node:events';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  claimOne,
  delivery,
  ends,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { watchedPool } from './watched-pool.ts';

describe.skipIf(isSkipped)('claims that postgresStore holds', () => {
  let bed: PostgresBed;

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('settles a delivery that it has claimed again, after a settlement of its earlier claim was too late', async () => {
    const store = await opened(bed);
    await put(store, [delivery('a')]);
    const first = await claimOne(store);
    expect(await settle(store, ends.failed(first, START))).toBe(true);
    const second = await claimOne(store);
    expect(await settle(store, ends.completed(first))).toBe(false);
    expect(await settle(store, ends.completed(second))).toBe(true);
  });

  it('settles a delivery that it has given back, and claimed again before it knew that', async () => {
    const test = new EventEmitter();
    const [committed, answered] = [once(test, 'committed'), once(test, 'answered')];
    const pool = watchedPool(bed, async (text) => {
      if (!text.includes('.settle_v1($1')) return;
      test.emit('committed');
      await answered;
    });
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    await put(store, [delivery('a')]);
    const givingBack = settle(store, ends.released(await claimOne(store)));
    await committed;
    const again = await claimOne(store);
    test.emit('answered');
    expect(await givingBack).toBe(true);
    expect(await settle(store, ends.completed(again))).toBe(true);
    await store.close(START);
  });
});
