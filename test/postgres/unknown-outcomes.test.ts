import { postgresStore } from '@webhook-backpressure/postgres';
import type { ClaimedDelivery, InboxStore } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
import { watchedPool } from './watched-pool.ts';

describe.skipIf(isSkipped)('postgresStore without an answer', () => {
  let bed: PostgresBed;

  /**
   * A store of which the answer to the next call of a function is lost, although it was committed; or the call, which never
   * arrives.
   */
  async function losing(): Promise<{ store: InboxStore; lose: (name: string, arrives?: boolean) => void }> {
    let lost: string | undefined;
    let doesArrive = true;
    const loseIn = (isAnswer: boolean) => (text: string) => {
      if (lost === undefined || isAnswer !== doesArrive) return;
      if (!new RegExp(`\\.${lost}\\d\\(\\$1`).test(text)) return;
      lost = undefined;
      throw new Error('Connection terminated unexpectedly');
    };
    const pool = watchedPool(bed, loseIn(true), loseIn(false));
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    return {
      store,
      lose: (name, arrives = true) => {
        lost = name;
        doesArrive = arrives;
      },
    };
  }

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

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
    it.each(['it has', 'another process has', 'no process has', 'another process has failed after it'])(
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
        let again = who === 'no process has' ? undefined : await claimOne(claimer, START + 1);
        if (again !== undefined && who === 'another process has failed after it') {
          await other.settle([ends.failed(again, START + 1.5)], START + 1);
          again = await claimOne(claimer, START + 2);
        }
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

  it.each([ends.completed, ends.dead])(
    'does not hold a claim that another process has taken over and completed, if its settlement never arrived',
    async (end) => {
      const { store, lose } = await losing();
      await put(store, [delivery('1')]);
      const ended = end(await claimOne(store));
      lose('settle_v', false);
      await expect(store.settle([ended], START)).rejects.toThrow('Connection terminated');
      const other = await opened(bed);
      const taken = ends.completed(await claimOne(other, START + LEASE));
      expect(await other.settle([taken], START + LEASE)).toEqual([true]);
      expect(await store.settle([ended], START)).toEqual([false]);
      await store.close(START);
    },
  );

  it('does not end a later claim of the same attempt when it repeats a settlement that never arrived', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const completed = ends.completed(await claimOne(store));
    lose('settle_v', false);
    await expect(store.settle([completed], START)).rejects.toThrow('Connection terminated');
    const [other, nowMs] = [await opened(bed), START + LEASE];
    await other.settle([ends.dead(await claimOne(other, nowMs))], nowMs);
    await other.redrive(null, { ...ANY, nowMs });
    const again = await claimOne(store, nowMs);
    expect(again.attempt).toBe(1);
    expect(await store.settle([completed], nowMs)).toEqual([false]);
    expect(await store.settle([ends.completed(again)], nowMs)).toEqual([true]);
    await store.close(nowMs);
  });

  it('makes a settlement that never arrived when it repeats it, together with a new one', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1'), delivery('2'), delivery('3')]);
    const [one, two, three] = (await claim(store, 3)).map((claimed) => ends.completed(claimed));
    if (one === undefined || two === undefined || three === undefined)
      throw new Error('Too few were claimed.');
    lose('settle_v', false);
    await expect(store.settle([one, two], START)).rejects.toThrow('Connection terminated');
    expect(await store.settle([three, one], START)).toEqual([true, true]);
    expect(await store.settle([two], START)).toEqual([true]);
    expect(await store.stats()).toMatchObject({ depth: 0, remembered: 3 });
    await store.close(START);
    const left = await bed.pool.query(`SELECT FROM ${bed.schema}.settle_calls`);
    expect(left.rows).toEqual([]);
  });

  it('repeats a settlement as before after a repeat that has waited too long for the first request', async () => {
    let calls = 0;
    const fail = (call: number, error: Error) => (text: string) => {
      if (!text.includes('.settle_v1($1')) return;
      calls += 1;
      if (calls === call) throw error;
    };
    const tooLong = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    const pool = watchedPool(bed, fail(2, new Error('Connection terminated unexpectedly')), fail(3, tooLong));
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    await put(store, [delivery('1')]);
    const completed = ends.completed(await claimOne(store));
    await expect(store.settle([completed], START)).rejects.toThrow('Connection terminated');
    await expect(store.settle([completed], START)).rejects.toThrow('lock timeout');
    expect(await store.settle([completed], START)).toEqual([true]);
    await store.close(START);
  });

  it('keeps no answers of calls that were answered', async () => {
    const store = await opened(bed);
    await put(store, [delivery('1'), delivery('2'), delivery('3')]);
    for (const claimed of await claim(store, 3)) await store.settle([ends.completed(claimed)], START);
    const left = await bed.pool.query(`SELECT call FROM ${bed.schema}.settle_calls`);
    expect(left.rows).toEqual([{ call: '3' }]);
  });

  it.each([
    ['claimed', (): void => undefined],
    [
      'completed',
      (other: InboxStore, again: ClaimedDelivery) => other.settle([ends.completed(again)], START),
    ],
    [
      'failed',
      (other: InboxStore, again: ClaimedDelivery) => other.settle([ends.failed(again, START + 9)], START),
    ],
  ])('has counted a failure whose answer was lost when another process has %s its retry', async (_, then) => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const failed = ends.failed(await claimOne(store), START + 0.123);
    lose('settle_v');
    await expect(store.settle([failed], START)).rejects.toThrow('Connection terminated');
    const other = await opened(bed);
    const again = await claimOne(other, START + 1);
    expect(again.attempt).toBe(2);
    await then(other, again);
    expect(await store.settle([failed], START)).toEqual([true]);
    await store.close(START);
  });

  it('has given a delivery back if only the answer was lost', async () => {
    const { store, lose } = await losing();
    await put(store, [delivery('1')]);
    const released = ends.released(await claimOne(store));
    lose('settle_v');
    await expect(store.settle([released], START)).rejects.toThrow('Connection terminated');
    expect(await store.settle([released], START)).toEqual([true]);
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
});
