import type { InboxStore, StoreEvent } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bury,
  claimOne,
  delivery,
  ends,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { tool } from './run-tool.ts';
import { watchedPool } from './watched-pool.ts';

/** A store, and what it reports. */
interface Watched {
  readonly store: InboxStore;
  readonly events: StoreEvent[];
  /** Resolves at the next event that deliveries are due. */
  due: () => Promise<void>;
}

async function watched(given: InboxStore): Promise<Watched> {
  const events: StoreEvent[] = [];
  const waiting: (() => void)[] = [];
  given.watch?.((event) => {
    events.push(event);
    for (const resolve of waiting.splice(0)) resolve();
  });
  const one: Watched = {
    store: given,
    events,
    due: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
  const first = one.due();
  await given.open(START);
  // Deliveries may have become due before it listened.
  await first;
  return one;
}

describe.skipIf(isSkipped)('postgresStore that announces deliveries', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('tells the workers of other owners, and not its own, that deliveries are due', async () => {
    const [receiver, worker] = [await watched(bed.store()), await watched(bed.store())];
    const due = worker.due();
    await put(receiver.store, [delivery('a')]);
    await due;
    const answer = receiver.due();
    await put(worker.store, [delivery('b')]);
    await answer;
    expect(worker.events).toEqual([{ type: 'due' }, { type: 'due' }]);
    expect(receiver.events).toEqual([{ type: 'due' }, { type: 'due' }]);
  });

  it.each<[string, (store: InboxStore) => Promise<unknown>]>([
    ['released', async (store) => settle(store, ends.released(await claimOne(store)))],
    ['redriven', async (store) => store.redrive('dead', { limit: 1, maxBytes: 1, nowMs: START })],
    ['resumed', async (store) => (await store.pause('shop')) && store.resume('shop')],
  ])('tells them of deliveries that were %s', async (_, act) => {
    const [one, other] = [await watched(bed.store()), await watched(bed.store())];
    const due = other.due();
    await bury(one.store, 'dead');
    await put(one.store, [delivery('a')]);
    await due;
    const again = other.due();
    await act(one.store);
    await again;
  });

  it.each<[string, (store: InboxStore) => unknown, string[]]>([
    ['redrives a delivery', (store) => bury(store, 'a'), ['redrive', 'a']],
    ['resumes everything', (store) => store.pause(null), ['resume']],
  ])('tells them when the tool %s', async (_, prepare, command) => {
    const worker = await watched(bed.store());
    await prepare(worker.store);
    const due = worker.due();
    const ended = await tool([...command, '--schema', bed.schema, bed.connectionString]);
    expect(ended.code).toBe(0);
    await due;
  });

  it('tells them of claims that it gives back when it closes', async () => {
    const [one, other] = [await watched(bed.store()), await watched(bed.store())];
    await put(other.store, [delivery('a')]);
    await claimOne(one.store);
    const due = other.due();
    await one.store.close(START);
    await due;
    expect((await claimOne(other.store)).id).toBe('a');
  });

  it('announces once in 50 ms, however many puts there are, and never in the transaction of a put', async () => {
    let announcements = 0;
    const pool = watchedPool(bed, (text) => {
      if (text.includes('pg_notify')) announcements += 1;
    });
    const { store } = await watched(postgresStore({ pool }, { schema: bed.schema }));
    const startedMs = performance.now();
    for (let at = 0; at < 60; at += 1) await put(store, [delivery(String(at))]);
    await store.close(START);
    // One at the beginning, and one at the end.
    expect(announcements).toBeLessThanOrEqual((performance.now() - startedMs) / 50 + 2);
    const { rows } = await bed.pool.query(
      `SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1 AND p.prosrc ILIKE '%notify%'`,
      [bed.schema],
    );
    expect(rows).toEqual([]);
  });

  it('listens again when its session has ended', async () => {
    const [receiver, worker] = [await watched(bed.store()), await watched(bed.store())];
    const again = Promise.all([receiver.due(), worker.due()]);
    await bed.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND classid::bigint = hashtext('webhook-backpressure:' || $1)::bigint & 4294967295`,
      [bed.schema],
    );
    await again;
    const due = worker.due();
    await put(receiver.store, [delivery('a')]);
    await due;
  });

  it('tells workers that listen of deliveries that were stored behind a pool of connections', async () => {
    const worker = await watched(bed.store());
    const receiver = postgresStore({ pool: bed.pool }, { schema: bed.schema, pooled: true });
    await receiver.open(START);
    const due = worker.due();
    await put(receiver, [delivery('a')]);
    await due;
    await receiver.close(START);
  });

  it('looks every second behind a pool of connections, without a session that listens', async () => {
    const texts: string[] = [];
    const pool = watchedPool(bed, (text) => texts.push(text));
    const { store, due } = await watched(postgresStore({ pool }, { schema: bed.schema, pooled: true }));
    await put(store, [delivery('a')]);
    await due();
    await store.close(START);
    expect(texts.filter((text) => /LISTEN|advisory_lock/.test(text))).toEqual([]);
  });
});
