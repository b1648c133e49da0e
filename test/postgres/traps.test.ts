import type { InboxStore, StoredDelivery } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  claim,
  claimOne,
  delivery,
  ends,
  LEASE,
  opened,
  put,
  ROOMY,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { idHash } from '../../packages/postgres/src/records/records.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { blocked, HeldCommits, uncommitted } from './held-commits.ts';

const ROUNDS = 20;
/** Deliveries. */
const BACKLOG = 3000;

describe.skipIf(isSkipped)('postgresStore on many machines', () => {
  let bed: PostgresBed;

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('stores no delivery again while another owner completes it', async () => {
    const [store, other] = [await opened(bed), await opened(bed)];
    for (let round = 0; round < ROUNDS; round += 1) {
      const one = delivery(String(round));
      await put(store, [one]);
      const claimed = await claimOne(store);
      const [isHeld, again, twice] = await Promise.all([
        settle(store, ends.completed(claimed)),
        put(other, [one]),
        put(other, [one]),
      ]);
      expect([isHeld, again, twice]).toEqual([true, ['duplicate'], ['duplicate']]);
    }
    expect(await store.stats()).toMatchObject({ depth: 0, remembered: ROUNDS });
  });

  it('stores batches that share ids in opposite order without a deadlock', async () => {
    const stores = [new HeldCommits(bed), new HeldCommits(bed)] as const;
    for (const { store } of stores) await store.open(START);
    const batch = ['1', '2', '3']
      .map((id) => ({ one: delivery(id), hash: idHash({ key: 'shop', id }) }))
      .sort((a, b) => (a.hash < b.hash ? -1 : 1));
    const deliveries = batch.map(({ one }) => one);
    // Another transaction holds the middle one until both batches wait.
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    const insert = `INSERT INTO ${bed.schema}.ids (hash, seq, is_generated) VALUES ($1, 0, false)`;
    await client.query(insert, [batch[1]?.hash]);
    const first = put(stores[0].store, deliveries);
    await blocked(bed, 1, [first]);
    const second = put(stores[1].store, [...deliveries].reverse());
    await blocked(bed, 2, [first, second]);
    await client.query('ROLLBACK');
    const results = (await Promise.all([first, second])).flat();
    expect([...results].sort()).toEqual([
      ...Array<string>(3).fill('duplicate'),
      ...Array<string>(3).fill('stored'),
    ]);
    // A deadlock would have been ended by PostgreSQL, and the put repeated.
    expect(stores.map(({ puts }) => puts)).toEqual([1, 1]);
    for (const { store } of stores) await store.close(START);
  });

  it('keeps the bound exactly near the capacity, although another put is being committed', async () => {
    const [held, other] = [new HeldCommits(bed), await opened(bed)];
    await held.store.open(START);
    const limits = { ...ROOMY, capacity: 8 };
    const five = (name: string): StoredDelivery[] => [1, 2, 3, 4, 5].map((at) => delivery(name + String(at)));
    held.hold();
    const first = put(held.store, five('a'), { limits });
    await uncommitted(bed);
    const second = put(other, five('b'), { limits });
    await blocked(bed, 1, [second]);
    held.commit();
    const results = (await Promise.all([first, second])).flat();
    expect(results.filter((result) => result === 'stored')).toHaveLength(8);
    expect((await other.stats()).depth).toBe(8);
    await held.store.close(START);
  });

  it('does not wait for the commit of another put', async () => {
    const store = await opened(bed);
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    // A put that is being committed holds its slot.
    await client.query(`SELECT ${bed.schema}.add_totals_v1(1, 1, 0, 0, 0, 0, 0)`);
    const limits = { ...ROOMY, capacity: 100_000, maxBytes: 2 ** 40 };
    expect(await put(store, [delivery('a')], { limits })).toEqual(['stored']);
    await client.query('ROLLBACK');
    expect((await store.stats()).depth).toBe(1);
  });

  it('gives each delivery to one of the owners that claim at the same time', async () => {
    const stores = [await opened(bed), await opened(bed), await opened(bed)];
    const ids = Array.from({ length: 60 }, (_, at) => String(at));
    await put(
      stores[0] as InboxStore,
      ids.map((id, at) => delivery(id, { key: String(at % 5) })),
    );
    const claimed = (await Promise.all(stores.map((store) => claim(store, 20)))).flat();
    expect(claimed.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  it('claims past a delivery that another transaction has locked', async () => {
    const store = await opened(bed);
    await put(store, [delivery('a'), delivery('b')]);
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    await client.query(`SELECT FROM ${bed.schema}.queue ORDER BY seq LIMIT 1 FOR UPDATE`);
    expect((await claim(store, 2)).map(({ id }) => id)).toEqual(['b']);
    await client.query('ROLLBACK');
    expect((await claim(store, 2)).map(({ id }) => id)).toEqual(['a']);
  });

  it('claims from later keys while another transaction has locked the deliveries of the next ones', async () => {
    const store = await opened(bed);
    const keys = ['a', 'b', 'c', 'd', 'e'];
    for (const key of keys) await put(store, [delivery(key, { key })]);
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    await client.query(`SELECT FROM ${bed.schema}.queue WHERE key IN ('b', 'c', 'd') FOR UPDATE`);
    // From the first key on, and from the one behind the cursor on, past the last one to the first.
    expect((await claim(store, 2)).map(({ id }) => id)).toEqual(['a', 'e']);
    await put(store, [delivery('a2', { key: 'a' })]);
    expect((await claim(store, 1)).map(({ id }) => id)).toEqual(['a2']);
    await put(store, [delivery('a3', { key: 'a' })]);
    expect((await claim(store, 1)).map(({ id }) => id)).toEqual(['a3']);
    expect(await claim(store, 1)).toEqual([]);
    await client.query('ROLLBACK');
    expect((await claim(store, 9)).map(({ id }) => id)).toEqual(['b', 'c', 'd']);
  });

  it('makes a delivery the head that is being committed while the head ends', async () => {
    const [held, other] = [new HeldCommits(bed), await opened(bed, START, true)];
    await held.store.open(START);
    await put(other, [delivery('0')]);
    const head = await claimOne(other);
    held.hold();
    const behind = put(held.store, [delivery('1')]);
    await uncommitted(bed);
    const ending = settle(other, ends.completed(head));
    await blocked(bed, 1, [ending]);
    held.commit();
    expect(await Promise.all([behind, ending])).toEqual([['stored'], true]);
    expect((await claimOne(other)).id).toBe('1');
    await held.store.close(START);
  });

  it('never updates the row of a body, and finds ready deliveries by a partial index', async () => {
    const store = await opened(bed);
    await put(store, [delivery('a')]);
    const place = `SELECT ctid::text, xmin::text FROM ${bed.schema}.contents`;
    const { rows: before } = await bed.pool.query(place);
    await settle(store, ends.failed(await claimOne(store), START));
    await store.renew([await claimOne(store)], { leaseMs: LEASE, nowMs: START });
    const { rows: after } = await bed.pool.query(place);
    expect(after).toEqual(before);
    const { rows: kinds } = await bed.pool.query(
      `SELECT (SELECT indexdef LIKE '%WHERE (state = 0)' FROM pg_indexes
        WHERE schemaname = $1 AND indexname = 'queue_ready') AS is_partial,
        (SELECT reloptions::text FROM pg_class WHERE oid = ($1 || '.queue')::regclass) AS options`,
      [bed.schema],
    );
    expect(kinds).toEqual([
      {
        is_partial: true,
        options: expect.stringMatching(/fillfactor=70.*autovacuum_vacuum_threshold/) as unknown,
      },
    ]);
  });

  it('passes no backlog by a plan that was made while the tables were empty', async () => {
    await opened(bed);
    const { schema } = bed;
    const client = await bed.otherProgram();
    for (const table of ['queue', 'ids', 'contents']) {
      await client.query(`ALTER TABLE ${schema}.${table} SET (autovacuum_enabled = false)`);
      // An empty table that was never vacuumed is planned for as if it had ten pages.
      await client.query(`VACUUM ${schema}.${table}`);
    }
    const hashOf = (seq: string): string =>
      `('00000000-0000-0000-0000-' || lpad(${seq}::text, 12, '0'))::uuid`;
    const claimNine = `SELECT * FROM ${schema}.claim_v1(1, 9, 1e9, 1, 1, '{}', NULL, '{}', true, NULL, '{}', '{}', '{}')`;
    const visits = async (): Promise<number> => {
      const { rows } = await client.query<{ visited: string }>(
        `SELECT sum(pg_stat_get_xact_tuples_returned(oid)) AS visited FROM pg_class
        WHERE oid IN ('${schema}.queue_pkey'::regclass, '${schema}.ids_pkey'::regclass, '${schema}.contents_pkey'::regclass)`,
      );
      return Number(rows[0]?.visited);
    };
    /** Stores some, claims nine of them and settles these. Returns how many entries of the primary keys that has visited. */
    const work = async (first: number, count: number): Promise<number> => {
      await client.query(`INSERT INTO ${schema}.queue (seq, key, state, due_ms, received_ms, bytes)
        SELECT at, 'shop', 0, 0, 0, 1 FROM generate_series(${String(first)}, ${String(first + count - 1)}) AS at`);
      await client.query(`INSERT INTO ${schema}.ids (hash, seq, is_generated)
        SELECT ${hashOf('seq')}, seq, false FROM ${schema}.queue WHERE seq >= ${String(first)}`);
      await client.query(`INSERT INTO ${schema}.contents
        SELECT seq, ${hashOf('seq')}, key, seq, false, NULL, '{}', 0, 1, '' FROM ${schema}.queue WHERE seq >= ${String(first)}`);
      await client.query('BEGIN');
      const before = await visits();
      await client.query(claimNine);
      const { rows: settled } = await client.query<{ held: boolean[] }>(
        `SELECT ${schema}.settle_v1(1, NULL, NULL, 1, array_agg(at), array_agg(1),
          array_agg((ARRAY['completed', 'failed', 'released', 'dead'])[1 + at % 4]), array_agg(5::double precision),
          array_agg(''::text), array_agg(at % 8 = 0)) AS held
        FROM generate_series(${String(first)}, ${String(first + 8)}) AS at`,
      );
      expect(settled[0]?.held).toEqual(Array(9).fill(true));
      const visited = (await visits()) - before;
      await client.query('COMMIT');
      return visited;
    };
    await client.query(claimNine);
    await work(1, 9);
    expect(await work(100, BACKLOG)).toBeLessThan(BACKLOG / 10);
  });

  it('opens at most four connections, and statements on them have a time limit', async () => {
    const own = postgresStore(
      { connectionString: `${bed.connectionString}?application_name=${bed.schema}` },
      { schema: bed.schema },
    );
    await own.open(START);
    await Promise.all(Array.from({ length: 30 }, (_, at) => put(own, [delivery(String(at))])));
    const { rows } = await bed.pool.query<{ count: string }>(
      'SELECT count(*) FROM pg_stat_activity WHERE application_name = $1',
      [bed.schema],
    );
    expect(Number(rows[0]?.count)).toBeLessThanOrEqual(4);
    const { rows: timeouts } = await bed.pool.query(
      `SELECT bool_and(p.proconfig::text LIKE '%lock_timeout%') AS have_limit FROM pg_proc p
      JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1`,
      [bed.schema],
    );
    expect(timeouts).toEqual([{ have_limit: true }]);
    await own.close(START);
  });

  it('shows the receivers of one schema to each other', async () => {
    const [store, other] = [await opened(bed), await opened(bed)];
    const beat = { resource: 'inbox', number: 1, news: '', seen: {} };
    await store.registry?.beat({ ...beat, member: 'a', state: '{"refusals":7}' });
    const view = await other.registry?.beat({ ...beat, member: 'b', state: '{}' });
    expect(view?.members.map(({ member, state }) => [member, state])).toContainEqual(['a', '{"refusals":7}']);
  });

  it('locks the number of its owner in a session, unless it is pooled', async () => {
    const locks = async (): Promise<string | undefined> => {
      const { rows } = await bed.pool.query<{ count: string }>(
        `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
          AND classid::bigint = hashtext('webhook-backpressure:' || $1)::bigint & 4294967295`,
        [bed.schema],
      );
      return rows[0]?.count;
    };
    const store = await opened(bed);
    expect(await locks()).toBe('1');
    await store.close(START);
    const pooled = new PostgresBed({ pooled: true });
    await opened(pooled);
    expect(await locks()).toBe('0');
    await pooled.dispose();
  });

  it('gives no two owners one number, also when a restore has set the sequences back', async () => {
    const store = await opened(bed);
    await bed.pool.query(`SELECT setval('${bed.schema}.owner_seq', 1, false)`);
    const other = await opened(bed);
    await put(store, [delivery('a')]);
    const claimed = await claimOne(store);
    expect(await settle(other, ends.completed(claimed))).toBe(false);
    expect(await claim(other, 1, { nowMs: START + LEASE })).toHaveLength(1);
  });

  it('keeps the claims of an owner whose lock is missing until they have expired or it is known dead', async () => {
    const [store, other] = [await opened(bed), await opened(bed)];
    await put(store, [delivery('a')]);
    await claimOne(store);
    expect(await claim(other, 1, { nowMs: START + LEASE - 1 })).toEqual([]);
    expect(await claim(other, 1, { nowMs: START + LEASE })).toHaveLength(1);
  });
});
