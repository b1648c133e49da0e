import pg from 'pg';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claim, delivery, idsOf, opened, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { watchedPool } from './watched-pool.ts';

const FEW = 500;
/** More than the number of index entries that a claim may visit before it looks at less. */
const CLAIMED = 6000;
/** The pauses between full claims are at most 5 s. */
const LONG_MS = 6000;
/** Numbers that were the last ones this long ago belong to puts that are committed. */
const COMMITTED_MS = 300;

describe.skipIf(isSkipped)('postgresStore while another program leaves a transaction open', () => {
  let bed: PostgresBed;
  let store: InboxStore;
  let client: pg.Client;
  /** The index entries that each claim has visited. */
  const visits: number[] = [];
  /** The same of each put, in the totals. */
  const putVisits: number[] = [];
  /** How often it was asked when a delivery is due. */
  let looks = 0;

  beforeEach(async () => {
    bed = new PostgresBed();
    visits.length = 0;
    putVisits.length = 0;
    looks = 0;
    const pool = watchedPool(bed, (text, rows) => {
      if (text.includes('.claim_v1($1')) visits.push(Number(rows.at(-1)?.['visited']));
      if (text.includes('.next_due_v1($1')) looks += 1;
      if (text.includes('.put_v1($1')) putVisits.push(Number(rows[0]?.['visited']));
    });
    store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    client = new pg.Client({ connectionString: bed.connectionString });
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT 1');
  });
  afterEach(async () => {
    await client.end();
    await store.close(START);
    await bed.dispose();
  });

  /** Leaves index entries as claims do, of deliveries of one key that were stored first. */
  async function leaveEntries(): Promise<void> {
    const { schema, pool } = bed;
    await pool.query(
      `INSERT INTO ${schema}.queue (seq, key, state, due_ms, received_ms, bytes)
      SELECT nextval('${schema}.delivery_seq'), 'shop', 0, ${String(START)}, ${String(START)}, 1
      FROM generate_series(1, ${String(CLAIMED)})`,
    );
    await pool.query(`DELETE FROM ${schema}.queue`);
  }

  /** Lets real time pass, in which puts commit: a transaction of the server. */
  async function committed(): Promise<void> {
    await bed.pool.query('SELECT pg_sleep($1)', [COMMITTED_MS / 1000]);
  }

  it('claims new deliveries without passing the entries of those that were completed', async () => {
    await leaveEntries();
    expect(await claim(store, 1, { nowMs: START + LONG_MS })).toEqual([]);
    expect(visits.at(-1)).toBeGreaterThanOrEqual(CLAIMED);
    await committed();
    await claim(store, 1, { nowMs: START + 2 * LONG_MS });
    for (const id of ['b', 'c', 'd']) {
      await put(store, [delivery(id, { key: id })]);
      expect(idsOf(await claim(store, 2, { nowMs: START + 2 * LONG_MS }))).toEqual([id]);
      expect(visits.at(-1)).toBeLessThan(FEW);
    }
  });

  it('claims the backlog of a key behind those that it has claimed', async () => {
    await leaveEntries();
    await put(
      store,
      ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => delivery(id)),
    );
    await put(store, [delivery('z', { key: 'zoo' })]);
    const nowMs = START + LONG_MS;
    expect(idsOf(await claim(store, 1, { nowMs }))).toEqual(['a']);
    // More are due.
    expect(await store.nextDueMs()).toBe(0);
    const rest = [await claim(store, 2, { nowMs }), await claim(store, 4, { nowMs })].flat();
    expect(idsOf(rest)).toEqual(['z', 'b', 'c', 'd', 'e', 'f']);
    expect(visits.slice(-3)[0]).toBeGreaterThanOrEqual(CLAIMED);
    expect(Math.max(...visits.slice(-2))).toBeLessThan(FEW);
  });

  it('claims from another key while nothing is left behind the claimed ones of the next key', async () => {
    await leaveEntries();
    await put(store, [delivery('a'), delivery('y', { key: 'zoo' }), delivery('z', { key: 'zoo' })]);
    const nowMs = START + LONG_MS;
    for (const id of ['a', 'y', 'z']) expect(idsOf(await claim(store, 1, { nowMs }))).toEqual([id]);
    expect(visits.slice(-3)[0]).toBeGreaterThanOrEqual(CLAIMED);
    expect(Math.max(...visits.slice(-2))).toBeLessThan(FEW);
  });

  it('finds every delivery with the next full claim, at most 5 s later', async () => {
    await leaveEntries();
    const other = await opened(bed);
    await put(other, [delivery('early')]);
    const [held] = await claim(other, 1, { nowMs: START + LONG_MS });
    expect(held?.id).toBe('early');
    await claim(store, 1, { nowMs: START + LONG_MS });
    await committed();
    await claim(store, 1, { nowMs: START + 2 * LONG_MS });
    await other.close(START);
    const again = await claim(store, 1, { nowMs: START + 2 * LONG_MS });
    const due = (await store.nextDueMs()) ?? Infinity;
    expect(due).toBeLessThanOrEqual(START + 2 * LONG_MS + 5000);
    expect(idsOf([...again, ...(await claim(store, 1, { nowMs: due }))])).toEqual(['early']);
  });

  it('looks for due deliveries at most every 5 s for a receiver, which has no claims to learn from', async () => {
    await put(store, [delivery('a')]);
    expect(await store.nextDueMs()).toBe(0);
    await leaveEntries();
    expect([await store.nextDueMs(), looks]).toEqual([undefined, 2]);
    await put(store, [delivery('b')]);
    expect([await store.nextDueMs(), looks]).toEqual([undefined, 2]);
    // As a worker it looks again.
    expect(idsOf(await claim(store, 1, { nowMs: START }))).toEqual(['b']);
  });

  it('settles and renews without passing the entries of ended claims', async () => {
    const { schema, pool } = bed;
    const ids = Array.from({ length: 16 }, (_, at) => String(at));
    await put(
      store,
      ids.map((id) => delivery(id)),
    );
    await claim(store, ids.length, { nowMs: START });
    await pool.query(
      `INSERT INTO ${schema}.queue (seq, key, state, due_ms, received_ms, bytes, owner, lease_ms)
      SELECT nextval('${schema}.delivery_seq'), 'shop', 2, 0, 0, 1, (SELECT max(owner) FROM ${schema}.queue), 0
      FROM generate_series(1, ${String(CLAIMED)})`,
    );
    await pool.query(`DELETE FROM ${schema}.queue WHERE lease_ms = 0`);
    await pool.query(
      `INSERT INTO ${schema}.settle_calls (owner, call)
      SELECT (SELECT max(owner) FROM ${schema}.queue), generate_series(1, ${String(CLAIMED)})`,
    );
    await pool.query(`DELETE FROM ${schema}.settle_calls WHERE call < ${String(CLAIMED)}`);
    // As after a few calls on one connection, on tables that were not analyzed yet.
    const session = await pool.connect();
    await session.query("SET plan_cache_mode = 'force_generic_plan'");
    const { rows } = await session.query<{ held: boolean[]; visited: string }>(
      `WITH own AS (
          SELECT max(q.owner) AS owner, array_agg(q.seq) AS seqs, array_agg(1) AS ones, array_agg('completed'::text) AS kinds,
            array_agg(NULL::text) AS nothing, array_agg(false) AS flags
          FROM ${schema}.queue q
        ),
        renewed AS MATERIALIZED (SELECT r.held FROM own, ${schema}.renew_v1(owner, 1, seqs, ones) r),
        settled AS MATERIALIZED (
          SELECT s.held FROM own, renewed,
            ${schema}.settle_v1(owner, ${String(CLAIMED + 1)}, ARRAY[${String(CLAIMED)}], 1, seqs, ones, kinds, nothing::float[], nothing, flags) s
        )
      SELECT settled.held || renewed.held AS held,
        pg_stat_get_xact_tuples_returned('${schema}.queue_held'::regclass)
          + pg_stat_get_xact_tuples_returned('${schema}.settle_calls_pkey'::regclass) AS visited
      FROM renewed, settled`,
    );
    session.release(true);
    expect(rows[0]?.held).toEqual([...ids, ...ids].map(() => true));
    expect(Number(rows[0]?.visited)).toBeLessThan(FEW);
  });

  it('claims all again when the transaction has ended', async () => {
    await leaveEntries();
    await client.query('ROLLBACK');
    // A transaction of another test may keep the entries for a moment. Each claim is later, so that it is a full one.
    let nowMs = START;
    const visited = async (): Promise<number | undefined> => {
      await bed.pool.query(`VACUUM ${bed.schema}.queue`);
      nowMs += LONG_MS;
      await claim(store, 1, { nowMs });
      return visits.at(-1);
    };
    await expect.poll(visited, { timeout: 20_000 }).toBeLessThan(FEW);
    expect(await store.nextDueMs()).toBeUndefined();
  });

  it('replaces the totals before their earlier versions make puts slow, and counts on', async () => {
    await bed.pool.query(
      `DO $$ BEGIN
        FOR at IN 1..16000 LOOP UPDATE ${bed.schema}.totals SET depth = depth WHERE slot = at % 16; END LOOP;
      END $$`,
    );
    const other = await opened(bed);
    await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        await put(at % 2 === 0 ? store : other, [delivery(String(at))]);
      }),
    );
    expect(Math.max(...putVisits)).toBeGreaterThan(150);
    // In the background.
    let puts = 40;
    for (; puts < 200 && (putVisits.at(-1) ?? 0) > 150; puts += 1) await put(store, [delivery(String(puts))]);
    expect(putVisits.at(-1)).toBeLessThan(150);
    expect((await store.stats()).depth).toBe(puts);
  });
});
