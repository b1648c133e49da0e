import type { Socket } from 'node:net';
import type { InboxStore } from '@webhook-backpressure/inbox';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { postgresStore } from '@webhook-backpressure/postgres';
import {
  ANY,
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { blocked } from './held-commits.ts';
import { watchedPool } from './watched-pool.ts';

/** As a server does that says nothing more. */
function lose(client: pg.PoolClient): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

describe.skipIf(isSkipped)('postgresStore whose connections are lost', () => {
  let bed: PostgresBed;

  /** A store of which the answer to the next call of a function is lost, although it was committed. */
  async function losing(): Promise<{ store: InboxStore; lose: (name: string) => void }> {
    let lost: string | undefined;
    const pool = watchedPool(bed, (text) => {
      if (lost === undefined || !new RegExp(`\\.${lost}\\d\\(\\$1`).test(text)) return;
      lost = undefined;
      throw new Error('Connection terminated unexpectedly');
    });
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    return {
      store,
      lose: (name) => {
        lost = name;
      },
    };
  }

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  // The server of a machine that fails says nothing more: pg then emits an error, beside failing the statement.
  it('rejects the call whose connection ends during a statement, and stores it with the next one', async () => {
    const store = await opened(bed);
    const other = await bed.pool.connect();
    await other.query(`BEGIN; LOCK TABLE ${bed.schema}.ids`);
    const used: pg.PoolClient[] = [];
    bed.pool.on('acquire', (client) => used.push(client));
    const cut = put(store, [delivery('1')]);
    await blocked(bed, 1, [cut]);
    const waiting = await bed.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${bed.schema}.put%'`,
    );
    const pid = waiting.rows[0]?.pid;
    lose(
      used.find((client) => (client as unknown as { processID: number }).processID === pid) as pg.PoolClient,
    );
    await expect(cut).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_UNAVAILABLE' });
    await other.query('ROLLBACK');
    other.release();
    expect((await put(store, [delivery('1')]))[0]).toMatch(/^(stored|duplicate)$/);
    expect(await store.stats()).toMatchObject({ depth: 1 });
  });

  it('does not end a later claim when it repeats a release whose answer was lost', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const released = ends.released(await claimOne(store));
    lose('settle_v');
    await expect(store.settle([released], START)).rejects.toMatchObject({
      code: 'ERR_WBP_POSTGRES_UNAVAILABLE',
    });
    const again = await claimOne(store);
    expect(await store.settle([released], START)).toEqual([true]);
    expect(await claim(store, 1)).toEqual([]);
    expect(await store.settle([ends.completed(again)], START)).toEqual([true]);
    await store.close(START);
  });

  describe.each([
    ['dead', ends.dead, (other: InboxStore) => other.redrive(null, { ...ANY, nowMs: START + 1 })],
    ['kept', ends.kept, (other: InboxStore) => other.replay(null, { ...ANY, nowMs: START + 1 })],
    [
      'completed',
      ends.completed,
      async (other: InboxStore) => {
        await other.forgetId({ key: 'shop', id: '1' });
        await put(other, [delivery('1')]);
      },
    ],
  ])('when it repeats that a delivery is %s which was put back', (_kind, end, putBack) => {
    it.each(['it has', 'another process has', 'no process has'])(
      'held its claim, and does not end a later one, if %s claimed it',
      async (who) => {
        const { store, lose } = await losing();
        await put(store, [delivery('1')]);
        const ended = end(await claimOne(store));
        lose('settle_v');
        await expect(store.settle([ended], START)).rejects.toMatchObject({
          code: 'ERR_WBP_POSTGRES_UNAVAILABLE',
        });
        const other = await opened(bed);
        await putBack(other);
        const claimer = who === 'it has' ? store : other;
        const again = who === 'no process has' ? undefined : await claimOne(claimer, START + 1);
        expect(await store.settle([ended], START)).toEqual([true]);
        expect(await store.stats()).toMatchObject({ depth: 1, inFlight: again === undefined ? 0 : 1 });
        if (again !== undefined) expect(await claimer.settle([ends.completed(again)], START)).toEqual([true]);
        await store.close(START);
      },
    );
  });

  it.each(
    (['dead', 'kept', 'completed'] as const).flatMap((kind) =>
      ['it has', 'another process has', 'no process has'].map((who) => [kind, who] as const),
    ),
  )(
    'does not hold a claim that a failover has undone when it repeats that its delivery is %s, and %s claimed it again',
    async (kind, who) => {
      const { store, lose } = await losing();
      await put(store, [delivery('1')]);
      const first = await claimOne(store);
      // The state before the claim, as on a standby that lacks the last commits.
      await bed.pool.query(
        `UPDATE ${bed.schema}.queue SET state = 0, attempts = 0, owner = NULL, lease_ms = NULL`,
      );
      const ended = ends[kind](first);
      lose('settle_v');
      await expect(store.settle([ended], START)).rejects.toThrow('Connection terminated');
      const claimer = who === 'it has' ? store : await opened(bed);
      const again = who === 'no process has' ? undefined : await claimOne(claimer);
      expect(await store.settle([ended], START)).toEqual([false]);
      if (again !== undefined) expect(await claimer.settle([ends.completed(again)], START)).toEqual([true]);
      await store.close(START);
    },
  );

  it('does not hold a claim that another process has taken over and completed, if its settlement was never sent', async () => {
    const pool = watchedPool(bed, () => undefined);
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    await put(store, [delivery('1')]);
    const completed = ends.completed(await claimOne(store));
    const connect = vi.spyOn(pool, 'connect').mockRejectedValueOnce(new Error('connect ECONNREFUSED'));
    await expect(store.settle([completed], START)).rejects.toThrow('ECONNREFUSED');
    connect.mockRestore();
    const other = await opened(bed);
    expect(await other.settle([ends.completed(await claimOne(other, START + LEASE))], START + LEASE)).toEqual(
      [true],
    );
    expect(await store.settle([completed], START)).toEqual([false]);
    await store.close(START);
  });

  it('has counted a failure whose answer was lost when another process has claimed its retry', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const failed = ends.failed(await claimOne(store), START + 0.123);
    lose('settle_v');
    await expect(store.settle([failed], START)).rejects.toThrow('Connection terminated');
    expect((await claimOne(await opened(bed), START + 1)).attempt).toBe(2);
    expect(await store.settle([failed], START)).toEqual([true]);
    await store.close(START);
  });

  it('keeps the claim of a next attempt when it repeats a failure whose answer was lost', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const failed = ends.failed(await claimOne(store), START);
    lose('settle_v');
    await expect(store.settle([failed], START)).rejects.toThrow('Connection terminated');
    const again = await claimOne(store);
    expect(again.attempt).toBe(2);
    expect(await store.settle([failed], START)).toEqual([true]);
    lose('claim_v');
    await expect(claim(store, 1)).rejects.toThrow('Connection terminated');
    expect(await claim(store, 1)).toEqual([]);
    expect(await store.settle([ends.completed(again)], START)).toEqual([true]);
    await store.close(START);
  });

  it('gives a lost claim back although a transaction had completed the delivery before', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const claimed = await claimOne(store);
    const client = await bed.pool.connect();
    await client.query('BEGIN');
    expect(await store.settleIn?.(client, ends.kept(claimed), START)).toBe(true);
    await client.query('COMMIT');
    client.release();
    expect(await store.getPending(claimed, START)).toBeUndefined();
    expect(await store.replay('1', { ...ANY, nowMs: START })).toHaveLength(1);
    lose('claim_v');
    await expect(claim(store, 1)).rejects.toThrow('Connection terminated');
    expect(idsOf(await claim(store, 1))).toEqual(['1']);
    await store.close(START);
  });

  it('uses another connection after one has failed while it was idle', async () => {
    const clients = new Set<pg.PoolClient>();
    bed.pool.on('connect', (client) => clients.add(client));
    const store = await opened(bed);
    await put(store, [delivery('1')]);
    const closed = [...clients].map((client) => new Promise((resolve) => client.once('end', resolve)));
    expect(closed.length).toBeGreaterThan(0);
    // An error that no listener of the pool gets would be uncaught, and fail this test.
    for (const client of clients) lose(client);
    await Promise.all(closed);
    expect(await put(store, [delivery('2')])).toEqual(['stored']);
  });

  it('leaves the pool as it was', async () => {
    const before = bed.pool.listenerCount('error');
    const store = await opened(bed);
    expect(bed.pool.listenerCount('error')).toBe(before + 1);
    await store.close(0);
    expect(bed.pool.listenerCount('error')).toBe(before);
  });
});
