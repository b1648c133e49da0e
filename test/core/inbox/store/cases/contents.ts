import type { DeliveryRef, InboxStore, ListedPending, StoredPage } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import {
  ANY,
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  opened,
  put,
  settle,
  START,
  storedBytes,
} from './store-fixtures.ts';

/** All pages of a list, which may be as small as the store likes. */
async function all<T>(ask: (after: number) => Promise<StoredPage<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let next: number | undefined = 0; next !== undefined;) {
    const page: StoredPage<T> = await ask(next);
    found.push(...page.deliveries);
    ({ next } = page);
  }
  return found;
}

async function keep(store: InboxStore, id: string, nowMs: number, key = 'shop'): Promise<void> {
  await put(store, [delivery(id, { key })], { nowMs });
  await settle(store, ends.kept(await claimOne(store, nowMs)), nowMs);
}

const namesOf = (ones: readonly DeliveryRef[]): string[] => ones.map(({ key, id }) => `${key}/${id}`);

export function contents(bed: BedOf): void {
  describe('pending deliveries', () => {
    it('are listed in the order of storing, with their state, without bodies', async () => {
      const store = await opened(bed());
      await put(store, [delivery('active'), delivery('delayed'), delivery('due')]);
      const [, delayed, due] = await claim(store, 3);
      await settle(store, ends.failed(delayed as NonNullable<typeof delayed>, START + 500));
      await settle(store, ends.failed(due as NonNullable<typeof due>, START + 100));
      await put(store, [
        delivery('ready', { key: 'other', sender: 'github', rawBody: new Uint8Array(70_000) }),
      ]);
      const list = async (
        nowMs: number,
        options: { key?: string; state?: ListedPending['state']; limit?: number } = {},
      ): Promise<ListedPending[]> =>
        await all(async (after) => await store.listPending({ after, nowMs, limit: 9, ...options }));
      const listed = await list(START + 100);
      expect(listed.map(({ id, state, attempts, dueMs }) => [id, state, attempts, dueMs])).toEqual([
        ['active', 'active', 1, START],
        ['delayed', 'delayed', 1, START + 500],
        ['due', 'ready', 1, START + 100],
        ['ready', 'ready', 0, START],
      ]);
      const { rawBody, ...facts } = delivery('ready', { key: 'other', sender: 'github' });
      expect(rawBody.byteLength).toBeLessThan(70_000);
      expect(listed[3]).toEqual({ ...facts, bodyBytes: 70_000, state: 'ready', attempts: 0, dueMs: START });
      expect(idsOf(await list(START, { state: 'delayed' }))).toEqual(['delayed', 'due']);
      expect(idsOf(await list(START, { key: 'other' }))).toEqual(['ready']);
      expect(idsOf(await list(START, { key: 'none' }))).toEqual([]);
      expect(idsOf(await list(START, { limit: 1 }))).toEqual(['active', 'delayed', 'due', 'ready']);
    });

    it('are returned with their body, and other deliveries are not', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      await put(store, [delivery('deadLetters')], { isOverflow: true });
      const found = await store.getPending({ key: 'shop', id: 'a' }, START);
      expect(found).toMatchObject({ id: 'a', state: 'ready', attempts: 0, dueMs: START });
      expect(Buffer.from(found?.rawBody ?? []).toString()).toBe('{"id":"a"}');
      for (const ref of [
        { key: 'shop', id: 'deadLetters' },
        { key: 'other', id: 'a' },
      ])
        expect(await store.getPending(ref, START)).toBeUndefined();
    });
  });

  describe('the marks of a delivery', () => {
    it('stay with it, and its params stay as they are', async () => {
      const store = await opened(bed());
      const request = { method: 'POST', url: '/', params: { tenant: 'a', '@inbox': '{"handler":"b"}' } };
      const marks = { handler: 'stripe:"\u0000 \ud800', notBeforeMs: START + 1 };
      await put(store, [delivery('a', { request, ...marks }), delivery('b', { request, handler: '' })]);
      expect(await store.getPending({ key: 'shop', id: 'a' }, START)).toMatchObject({ request, ...marks });
      const [a, b] = await claim(store, 2);
      expect(a).toMatchObject({ request, ...marks });
      expect(b).toMatchObject({ request, handler: '' });
      expect(b?.notBeforeMs).toBeUndefined();
      await settle(store, ends.dead(a as NonNullable<typeof a>), START);
      expect(await store.getDeadLetter('a', {})).toMatchObject({ request, ...marks });
      const [listed] = await store.listDeadLetters({ limit: 1, offset: 0 });
      expect(listed).toMatchObject({ request, ...marks });
    });
  });

  describe('kept deliveries', () => {
    it('are listed in the order of completion, counted, and found', async () => {
      const store = await opened(bed());
      for (const [at, [key, id]] of [
        ['x', 'b'],
        ['y', 'a'],
        ['x', 'a'],
      ].entries())
        await keep(store, id as string, START + at, key);
      const list = async (key?: string, limit = 9): Promise<string[]> =>
        namesOf(await all(async (after) => await store.listCompleted({ after, key, limit })));
      expect([await list(), await list('x'), await list(undefined, 1)]).toEqual([
        ['x/b', 'y/a', 'x/a'],
        ['x/b', 'x/a'],
        ['x/b', 'y/a', 'x/a'],
      ]);
      const [first] = (await store.listCompleted({ after: 0, limit: 1 })).deliveries;
      const { rawBody, ...facts } = delivery('b', { key: 'x' });
      expect(first).toEqual({ ...facts, bodyBytes: rawBody.byteLength, attempts: 1, completedAtMs: START });
      const count = async (id: string | null, only?: string): Promise<number> =>
        (await store.countCompleted(id, { key: only })).count;
      expect([await count(null), await count(null, 'x'), await count('a'), await count('a', 'y')]).toEqual([
        3, 2, 2, 1,
      ]);
      expect(await store.getCompleted('a', {})).toMatchObject({ key: 'x', completedAtMs: START + 2 });
      expect(await store.getCompleted('a', { key: 'y' })).toMatchObject({ key: 'y' });
      expect(await store.getCompleted('a', { key: 'z' })).toBeUndefined();
      const found = await store.getCompleted('b', {});
      expect(Buffer.from(found?.rawBody ?? []).toString()).toBe('{"id":"b"}');
      const bytes = storedBytes(delivery('a', { key: 'x' }));
      expect(await store.stats()).toMatchObject({
        depth: 0,
        bytes: 0,
        retained: 3,
        retainedBytes: 3 * bytes,
        remembered: 3,
      });
    });

    it('are replayed once, with all attempts available', async () => {
      const store = await opened(bed());
      for (const [at, id] of ['b', 'all', 'a'].entries()) await keep(store, id, START + at);
      const replay = async (id: string | null, limit = 9): Promise<string[]> =>
        idsOf(await store.replay(id, { ...ANY, limit, nowMs: START + 5 }));
      expect([await replay('all'), await replay(null, 1), await replay('a', 9), await replay(null)]).toEqual([
        ['all'],
        ['b'],
        ['a'],
        [],
      ]);
      expect(await store.stats()).toMatchObject({ depth: 3, retained: 0, retainedBytes: 0, remembered: 0 });
      const claimed = await claim(store, 9, { nowMs: START + 5 });
      expect(claimed.map(({ attempt, strandings }) => [attempt, strandings])).toEqual([
        [1, 0],
        [1, 0],
        [1, 0],
      ]);
      for (const one of claimed) expect(await settle(store, ends.completed(one), START + 6)).toBe(true);
      expect(await store.stats()).toMatchObject({ depth: 0, retained: 0, remembered: 3 });
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
    });

    it('are deleted by age and by bytes, and stay remembered', async () => {
      const store = await opened(bed());
      for (const at of [1, 2, 3, 4]) await keep(store, String(at), START + at);
      const bytes = storedBytes(delivery('1'));
      const drop = async (options: object): Promise<string[]> =>
        idsOf(await store.dropCompleted({ ...ANY, beforeMs: 0, keepBytes: 1 << 30, ...options }));
      expect(await drop({ beforeMs: START + 2 })).toEqual(['1']);
      expect(await drop({ keepBytes: 2 * bytes })).toEqual(['2']);
      expect(await drop({ keepBytes: 0, maxBytes: bytes })).toEqual(['3']);
      expect(await store.stats()).toMatchObject({ retained: 1, retainedBytes: bytes, remembered: 4 });
      expect(
        new Set(
          await put(
            store,
            [1, 2, 3, 4].map((id) => delivery(String(id))),
          ),
        ),
      ).toEqual(new Set(['duplicate']));
    });

    it('are duplicates until both the id and the delivery are forgotten', async () => {
      const store = await opened(bed());
      await keep(store, 'a', START);
      const nowMs = START + 9;
      expect(await store.forget({ beforeMs: nowMs, keep: 0, limit: 9, nowMs })).toBe(1);
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
      expect(await store.forgetId({ key: 'shop', id: 'a' })).toBe(true);
      expect(await store.stats()).toMatchObject({ retained: 0, retainedBytes: 0, remembered: 0 });
      expect(await put(store, [delivery('a')])).toEqual(['stored']);
    });

    it('are kept under a generated id too', async () => {
      const store = await opened(bed());
      await put(store, [delivery('made-up', { isIdGenerated: true })]);
      await settle(store, ends.kept(await claimOne(store)));
      expect(await store.stats()).toMatchObject({ retained: 1, remembered: 0 });
      expect(idsOf(await store.replay('made-up', { ...ANY, nowMs: START }))).toEqual(['made-up']);
      expect(await claimOne(store)).toMatchObject({ isIdGenerated: true, attempt: 1 });
    });
  });
}
