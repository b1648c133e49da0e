import type { ClaimedDelivery, InboxStore, StoreEvent } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  claim,
  delivery,
  ends,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

const CLAIMS: readonly (readonly [string, (store: InboxStore) => Promise<readonly ClaimedDelivery[]>])[] = [
  ['claims', (store) => claim(store, 9)],
  [
    'claims of keys',
    async (store) => {
      const wants = [{ key: 'shop', count: 9, isHeadOnly: false }];
      const [found] = await store.claimKeys(wants, { leaseMs: LEASE, nowMs: START });
      return found?.claimed ?? [];
    },
  ],
];

describe.skipIf(isSkipped)('rows that another program has changed', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it.each(
    CLAIMS.flatMap(([name, claimAll]) =>
      ['', 'null', '{"a":1}', '[{"a":5},"","",{},null,null]'].map(
        (facts) => [name, facts, claimAll] as const,
      ),
    ),
  )('become dead letters when %s find the facts %s, and no others with them', async (_, facts, claimAll) => {
    const store = await opened(bed);
    const events: StoreEvent[] = [];
    store.watch?.((event) => {
      if (event.type === 'warning') events.push(event);
    });
    await put(
      store,
      ['a', 'b', 'c'].map((id) => delivery(id)),
    );
    await bed.pool.query(`UPDATE ${bed.schema}.contents SET facts = $1 WHERE id = 'b'`, [facts]);
    const claimed = await claimAll(store);
    expect(claimed.map(({ id }) => id)).toEqual(['a', 'c']);
    for (const one of claimed) expect(await settle(store, ends.completed(one))).toBe(true);
    expect(await store.listDeadLetters({ limit: 9, offset: 0 })).toMatchObject([
      { id: 'b', headers: {}, error: expect.stringMatching(/cannot be read/) as string },
    ]);
    expect(await store.stats()).toMatchObject({ depth: 0, inFlight: 0, deadLetters: 1 });
    expect(events).toMatchObject([{ type: 'warning', code: 'WBP_POSTGRES_UNREADABLE' }]);
  });

  it('become dead letters when their ids were changed too', async () => {
    const store = await opened(bed);
    const messages: string[] = [];
    store.watch?.((event) => {
      if (event.type === 'warning') messages.push(event.message);
    });
    await put(store, [delivery('a'), delivery('b'), delivery('c')]);
    await bed.pool.query(`UPDATE ${bed.schema}.contents SET facts = '' WHERE id <> 'a'`);
    await bed.pool.query(`UPDATE ${bed.schema}.contents SET id = 'other' WHERE id = 'c'`);
    expect(await claim(store, 9)).toMatchObject([{ id: 'a' }]);
    expect(await store.stats()).toMatchObject({ inFlight: 1, deadLetters: 2 });
    expect(messages).toEqual([expect.stringMatching(/cannot be read: 2\. They are dead letters now\.$/)]);
  });
});
