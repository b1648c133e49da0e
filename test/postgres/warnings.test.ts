import pg from 'pg';
import type { InboxStore, StoreEvent } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { settle as settings } from '../../packages/postgres/src/options.ts';
import { ClockSkew } from '../../packages/postgres/src/server/clock-skew.ts';
import { Server } from '../../packages/postgres/src/server/server.ts';
import { Starvation } from '../../packages/postgres/src/server/starvation.ts';
import { claim, delivery, idsOf, opened, put } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

const MINUTE_MS = 60_000;

describe.skipIf(isSkipped)('postgresStore whose server starves claims', () => {
  // Other tests keep transactions open as well.
  const database = `starved_${String(process.pid)}`;
  const schema = 'inbox';
  let outside: PostgresBed;
  let connectionString: string;
  let pool: pg.Pool;
  let client: pg.Client;
  let store: InboxStore;
  const events: StoreEvent[] = [];
  let nowMs = 0;
  let starvation: Starvation;

  beforeEach(async () => {
    outside = new PostgresBed();
    await outside.pool.query(`CREATE DATABASE ${database}`);
    connectionString = outside.connectionString.replace(/[^/]*$/, database);
    pool = new pg.Pool({ connectionString });
    store = postgresStore({ pool }, { schema });
    await store.open(Date.now());
    client = new pg.Client({ connectionString, application_name: 'report' });
    await client.connect();
    events.length = 0;
    nowMs = 0;
    const server = new Server(settings({ pool }, { schema }), (event) => events.push(event));
    starvation = new Starvation(server, () => nowMs);
  });
  afterEach(async () => {
    await client.end();
    await store.close(0);
    await pool.end();
    await outside.pool.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await outside.dispose();
  });

  /** Leaves rows as completed deliveries do. */
  async function leaveRows(count: number): Promise<void> {
    const session = await pool.connect();
    await session.query(
      `INSERT INTO ${schema}.queue (seq, key, state, due_ms, received_ms, bytes)
      SELECT n, 'shop', 0, 0, 0, 1 FROM generate_series(1, ${String(count)}) n`,
    );
    await session.query(`DELETE FROM ${schema}.queue`);
    await session.query('SELECT pg_stat_force_next_flush()');
    await session.query('SELECT 1');
    session.release();
  }

  it.each([
    ['has read', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'],
    ['has written', 'BEGIN; CREATE TABLE written ()'],
  ])('names the session that %s and has kept its transaction open for a minute', async (_, statements) => {
    await client.query(statements);
    // It has the same number.
    const later = new pg.Client({ connectionString, application_name: 'later' });
    await later.connect();
    await later.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    await leaveRows(10_000);
    await starvation.look();
    nowMs = MINUTE_MS - 1;
    await starvation.look();
    expect(events).toEqual([]);
    nowMs = MINUTE_MS;
    await starvation.look();
    const message: unknown = expect.stringMatching(
      /^The session \d+ \(report\) has kept a transaction open for 60 s\./,
    );
    expect(events).toEqual([{ type: 'warning', code: 'WBP_POSTGRES_OLD_TRANSACTION', message }]);
    nowMs = 9 * MINUTE_MS;
    await starvation.look();
    expect(events).toHaveLength(1);
    nowMs = 11 * MINUTE_MS;
    await starvation.look();
    expect(events).toHaveLength(2);
    await later.end();
  });

  it('says nothing about transactions that end, or while few rows are left', async () => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT 1');
    await starvation.look();
    nowMs = MINUTE_MS;
    await starvation.look();
    await leaveRows(10_000);
    await client.query('ROLLBACK');
    nowMs = 2 * MINUTE_MS;
    await starvation.look();
    expect(events).toEqual([]);
  });

  it('says nothing about short transactions of the same number', async () => {
    await leaveRows(10_000);
    for (let at = 0; at < 5; at += 1) {
      const short = new pg.Client({ connectionString });
      await short.connect();
      await short.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await short.query('SELECT 1');
      await starvation.look();
      await short.end();
      nowMs += MINUTE_MS / 2;
    }
    expect(events).toEqual([]);
  });

  it('says that autovacuum is too slow', async () => {
    await pool.query(`ALTER TABLE ${schema}.queue SET (autovacuum_enabled = off)`);
    await leaveRows(200_000);
    await starvation.look();
    expect(events).toMatchObject([{ code: 'WBP_POSTGRES_DEAD_ROWS' }]);
  });
});

describe.skipIf(isSkipped)('postgresStore on a machine whose clock is a minute fast', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('stores times by the clock of the server, and warns once', async () => {
    const bed = new PostgresBed();
    const events: StoreEvent[] = [];
    const right = await opened(bed, Date.now());
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + MINUTE_MS);
    const fast = postgresStore({ pool: bed.pool }, { schema: bed.schema });
    fast.watch?.((event) => events.push(event));
    await fast.open(Date.now());
    await put(fast, [delivery('a')], { nowMs: Date.now() });
    vi.restoreAllMocks();
    expect(idsOf(await claim(right, 1, { nowMs: Date.now() }))).toEqual(['a']);
    expect(events.filter(({ type }) => type === 'warning')).toEqual([
      {
        type: 'warning',
        code: 'WBP_POSTGRES_CLOCK',
        message: expect.stringMatching(/^The clock of this machine is (59|60)\.\d s ahead of/) as unknown,
      },
    ]);
    await fast.close(Date.now());
    await bed.dispose();
  });
});

describe('the difference between the clocks', () => {
  it('is learned from replies that were fast, if it is more than a second', () => {
    let nowMs = 1000;
    const corrected: number[] = [];
    const skew = new ClockSkew(
      (aheadMs) => corrected.push(aheadMs),
      () => nowMs,
    );
    skew.note(1900, 1000);
    expect(skew.toServer(0)).toBe(0);
    nowMs = 3000;
    skew.note(63_000, 1000);
    expect(skew.toServer(0)).toBe(0);
    skew.note(63_000, 3000);
    expect([skew.toServer(0), skew.fromServer(60_000)]).toEqual([60_000, 0]);
    skew.note(64_500, 3000);
    skew.note(3400, 3000);
    expect(skew.toServer(0)).toBe(400);
    skew.note(3400, 3000);
    expect(skew.toServer(0)).toBe(0);
    expect(corrected).toEqual([60_000]);
  });
});
