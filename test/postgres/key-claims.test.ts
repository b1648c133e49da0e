import type { InboxStore, KeyClaim } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle as settings } from '../../packages/postgres/src/options.ts';
import { Incoming } from '../../packages/postgres/src/queue/incoming.ts';
import { migrate } from '../../packages/postgres/src/schema/migrate.ts';
import { MIGRATIONS } from '../../packages/postgres/src/schema/migrate.ts';
import { Server } from '../../packages/postgres/src/server/server.ts';
import {
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  ROOMY,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { blocked, HeldCommits, uncommitted } from './held-commits.ts';
import { watchedPool } from './watched-pool.ts';

/** Deliveries of other keys, or index entries of ended claims: more than a claim may visit before it looks at less. */
const MANY = 6000;
const FEW = 100;
/** The pauses between looks at everything are at most 5 s. */
const LONG_MS = 6000;

async function claimKey(
  store: InboxStore,
  count: number | 'head',
  nowMs: number = START,
  key = 'shop',
): Promise<KeyClaim> {
  const isHeadOnly = count === 'head';
  const [found] = await store.claimKeys([{ key, count: isHeadOnly ? 1 : count, isHeadOnly }], {
    leaseMs: LEASE,
    nowMs,
  });
  if (found === undefined) throw new Error('no result');
  return found;
}

describe.skipIf(isSkipped)('claims of named keys on PostgreSQL', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('give each delivery to one of the processes that claim at the same time', async () => {
    const stores = [await opened(bed), await opened(bed), await opened(bed)];
    const ids = Array.from({ length: 60 }, (_, at) => String(at));
    await put(
      stores[0] as InboxStore,
      ids.map((id, at) => delivery(id, { key: `key ${String(at % 5)}` })),
    );
    const wants = [0, 1, 2, 3, 4].map((at) => ({ key: `key ${String(at)}`, count: 12, isHeadOnly: false }));
    const found = await Promise.all(
      stores.map(async (store) => store.claimKeys(wants, { leaseMs: LEASE, nowMs: START })),
    );
    const claimed = found.flat().flatMap((one) => idsOf(one.claimed));
    expect(claimed.sort()).toEqual([...ids].sort());
  });

  it('claim no second delivery of a key while another transaction claims or locks the head', async () => {
    const store = await opened(bed);
    await put(store, [delivery('a'), delivery('b')]);
    const client = await bed.otherProgram();
    await client.query(
      `BEGIN; SELECT FROM ${bed.schema}.queue WHERE key = 'shop' ORDER BY seq LIMIT 1 FOR UPDATE`,
    );
    expect((await claimKey(store, 'head')).claimed).toEqual([]);
    await client.query(
      `ROLLBACK; BEGIN;
      SELECT FROM ${bed.schema}.claim_keys_v1(99, 1000, ${String(START)}, '{shop}', '{1}', '{true}', '{true}', '{-Infinity}', '{0}', '{NULL}', NULL, NULL)`,
    );
    const second = claimKey(store, 'head');
    await blocked(bed, 1, [second]);
    await client.query('COMMIT');
    expect(await second).toEqual({ key: 'shop', claimed: [], nextDueMs: START + 1000 });
  });

  it('claim no delivery beside the head that was stored before it and committed after it', async () => {
    const [held, store] = [new HeldCommits(bed), await opened(bed)];
    await held.store.open(START);
    held.hold();
    // Far from the capacity, where a put does not wait for another.
    const limits = { ...ROOMY, capacity: 100_000, maxBytes: 2 ** 40 };
    const first = put(held.store, [delivery('a')], { limits });
    await uncommitted(bed);
    await put(store, [delivery('b')], { limits });
    const { claimed } = await claimKey(store, 'head');
    expect(idsOf(claimed)).toEqual(['b']);
    held.commit();
    await first;
    expect(await claimKey(held.store, 'head')).toMatchObject({ claimed: [], nextDueMs: START + LEASE });
    await Promise.all(claimed.map((one) => settle(store, ends.completed(one))));
    expect(idsOf((await claimKey(held.store, 'head')).claimed)).toEqual(['a']);
    await held.store.close(START);
  });

  it('find deliveries that receivers of the release before stored, also during the migration', async () => {
    const server = new Server(settings({ pool: bed.pool }, { schema: bed.schema }));
    await migrate(server, MIGRATIONS.slice(0, 1));
    const older = new Incoming(server);
    const putOf = async (id: string): Promise<void> => {
      await older.put([{ delivery: delivery(id), isOverflow: false }], ROOMY, START);
    };
    await putOf('a');
    const store = await opened(bed);
    await putOf('b');
    expect(await store.dueKeys({ after: undefined, limit: 9, dueByMs: START })).toMatchObject({
      keys: [{ key: 'shop' }],
    });
    const { claimed } = await claimKey(store, 2);
    expect(idsOf(claimed)).toEqual(['a', 'b']);
    // As a worker of that release does.
    const { rows } = await bed.pool.query<{ count: number }>(
      `SELECT in_flight AS count FROM ${bed.schema}.counts_v1()`,
    );
    expect(rows[0]?.count).toBe(2);
  });

  describe('with many index entries', () => {
    let store: InboxStore;
    /** The index entries that each claim has visited. */
    const visits: number[] = [];
    beforeEach(async () => {
      visits.length = 0;
      const pool = watchedPool(bed, (text, rows) => {
        if (text.includes('.claim_keys_v1($1')) visits.push(Number(rows.at(-1)?.['visited']));
      });
      store = postgresStore({ pool }, { schema: bed.schema });
      await store.open(START);
    });
    afterEach(() => store.close(START));

    /** Deliveries without contents, in a state. */
    async function fill(key: string, state: number, dueMs: number): Promise<void> {
      await bed.pool.query(
        `INSERT INTO ${bed.schema}.queue (seq, key, state, due_ms, received_ms, bytes, owner, lease_ms, attempts)
        SELECT nextval('${bed.schema}.delivery_seq'), $1, $2::int, $3::float, 0, 1,
          CASE WHEN $2::int = 2 THEN 1 END, CASE WHEN $2::int = 2 THEN $3::float END, 1
        FROM generate_series(1, ${String(MANY)})`,
        [key, state, dueMs],
      );
    }

    it.each(['before', 'after'] as const)('pass no delivery of another key, %s an ANALYZE', async (when) => {
      for (const state of [0, 1, 2, 3]) await fill('busy', state, START + 1);
      if (when === 'after') await bed.pool.query(`ANALYZE ${bed.schema}.queue`);
      await put(store, [delivery('a'), delivery('b'), delivery('c')]);
      expect(idsOf((await claimKey(store, 'head')).claimed)).toEqual(['a']);
      expect(idsOf((await claimKey(store, 1)).claimed)).toEqual(['b']);
      expect((await claimKey(store, 'head')).claimed).toEqual([]);
      expect((await claimKey(store, 2, START, 'none')).claimed).toEqual([]);
      expect((await claimKey(store, 'head', START, 'none')).claimed).toEqual([]);
      expect(visits).toHaveLength(5);
      expect(Math.max(...visits)).toBeLessThan(FEW);
    });

    it('list a key once and cheaply, however many deliveries it has', async () => {
      for (const state of [0, 1, 2, 3]) await fill('busy', state, START + 1);
      await put(store, [delivery('a')]);
      const client = await bed.otherProgram();
      const { rows } = await client.query(
        `WITH listed AS MATERIALIZED (SELECT count(*)::integer FROM ${bed.schema}.due_keys_v1(99, NULL, 10, ${String(START)}))
        SELECT listed.count, pg_stat_get_xact_tuples_returned('${bed.schema}.queue_key'::regclass)::integer AS visited
        FROM listed`,
      );
      expect(rows).toEqual([{ count: 3, visited: 2 }]);
    });

    it('pass few entries of ended claims while another program leaves a transaction open', async () => {
      const client = await bed.otherProgram();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
      for (const state of [0, 1, 2]) await fill('shop', state, START - LONG_MS);
      await bed.pool.query(`DELETE FROM ${bed.schema}.queue`);
      await put(store, [delivery('a'), delivery('b'), delivery('c'), delivery('d')]);
      const { claimed } = await claimKey(store, 1);
      expect([idsOf(claimed), (visits.at(-1) ?? 0) >= MANY]).toEqual([['a'], true]);
      await Promise.all(claimed.map((one) => settle(store, ends.failed(one, START + 1))));
      expect(idsOf((await claimKey(store, 2, START + 2)).claimed)).toEqual(['b', 'c']);
      expect(visits.at(-1)).toBeLessThan(FEW);
      const last = await claimKey(store, 2, START + 2);
      expect([idsOf(last.claimed), last.nextDueMs]).toEqual([['d'], expect.any(Number)]);
      // The retry, with the next look at everything.
      expect(last.nextDueMs).toBeLessThanOrEqual(START + LONG_MS);
      expect(idsOf((await claimKey(store, 2, last.nextDueMs)).claimed)).toEqual(['a']);
    });
  });
});
