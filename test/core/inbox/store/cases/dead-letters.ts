import type { DeliveryRef } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import {
  ANY,
  bury,
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  ROOMY,
  settle,
  START,
  storedBytes,
} from './store-fixtures.ts';

export function shelf(bed: BedOf): void {
  describe('the dead-letter queue', () => {
    it('keeps the whole dead letter, with its attempts and its error', async () => {
      const store = await opened(bed());
      const one = delivery('a', { sender: 'github' });
      await put(store, [one]);
      await settle(store, ends.failed(await claimOne(store), START));
      await settle(store, ends.dead(await claimOne(store), 'Ünfug'), START + 7);
      const { rawBody, ...deadLetters } = (await store.getDeadLetter('a', {})) ?? one;
      const { rawBody: body, ...rest } = one;
      expect(deadLetters).toEqual({
        ...rest,
        attempts: 2,
        reason: 'dead',
        error: 'Ünfug',
        deadAtMs: START + 7,
      });
      expect([...rawBody]).toEqual([...body]);
      expect(await store.stats()).toMatchObject({
        depth: 0,
        bytes: 0,
        deadLetters: 1,
        deadLetterBytes: storedBytes(one),
      });
      expect(await claim(store, 1, { nowMs: START + 1e9 })).toEqual([]);
    });

    it('accepts overflows up to its own limits', async () => {
      const store = await opened(bed());
      const limits = { ...ROOMY, capacity: 1, maxDeadLetters: 1 };
      expect(await put(store, [delivery('a')], { limits })).toEqual(['stored']);
      expect(
        await put(store, [delivery('a'), delivery('b'), delivery('c')], { limits, isOverflow: true }),
      ).toEqual(['duplicate', 'stored', 'full']);
      expect(await store.getDeadLetter('b', {})).toMatchObject({
        attempts: 0,
        reason: 'overflow',
        error: '',
        deadAtMs: START,
      });
      const bytes = { ...ROOMY, maxDeadLetterBytes: storedBytes(delivery('b')) };
      expect(await put(store, [delivery('d')], { limits: bytes, isOverflow: true })).toEqual(['full']);
      expect(await put(store, [delivery('b')])).toEqual(['duplicate']);
    });

    it('accepts dead deliveries even when it is full', async () => {
      const store = await opened(bed());
      const limits = { ...ROOMY, maxDeadLetters: 1 };
      await put(store, [delivery('a')], { limits, isOverflow: true });
      await put(store, [delivery('b')], { limits });
      expect(await settle(store, ends.dead(await claimOne(store)))).toBe(true);
      expect((await store.stats()).deadLetters).toBe(2);
    });

    it('lists them in the order of first storing too, in pages that stay right while some leave', async () => {
      const store = await opened(bed());
      await put(
        store,
        ['a', 'b', 'c', 'd'].map((id) => delivery(id, { key: id === 'b' ? 'y' : 'x' })),
      );
      const claimed = await claim(store, 4);
      const inTheirOrder = [...claimed].sort((a, b) => (a.id < b.id ? 1 : -1));
      for (const [at, one] of inTheirOrder.entries()) await settle(store, ends.dead(one), START + at);
      const page = async (
        after: number,
        limit: number,
        key?: string,
      ): Promise<{ ids: string[]; next: number | undefined }> => {
        const { deliveries, next } = await store.scanDeadLetters({ after, limit, key });
        return { ids: idsOf(deliveries), next };
      };
      expect([await page(0, 9), await page(0, 9, 'x')]).toEqual([
        { ids: ['a', 'b', 'c', 'd'], next: undefined },
        { ids: ['a', 'c', 'd'], next: undefined },
      ]);
      const { rawBody, ...facts } = delivery('a', { key: 'x' });
      expect((await store.scanDeadLetters({ after: 0, limit: 1 })).deliveries).toEqual([
        {
          ...facts,
          bodyBytes: rawBody.byteLength,
          attempts: 1,
          reason: 'dead',
          error: 'it failed',
          deadAtMs: START + 3,
        },
      ]);
      const { ids, next = 0 } = await page(0, 2);
      expect(ids).toEqual(['a', 'b']);
      // One that leaves moves none of the others, and one that dies again keeps its place.
      await store.redrive('a', { ...ANY, nowMs: START + 9 });
      await settle(store, ends.dead(await claimOne(store, START + 9)), START + 10);
      await store.purge('c', ANY);
      expect(await page(next, 9)).toEqual({ ids: ['d'], next: undefined });
      expect((await page(0, 9)).ids).toEqual(['a', 'b', 'd']);
    });

    it('lists the oldest first, in pages', async () => {
      const store = await opened(bed());
      for (const [at, id] of ['c', 'a', 'd', 'b'].entries()) await bury(store, id, START + at);
      const page = async (limit: number, offset: number): Promise<string[]> =>
        idsOf(await store.listDeadLetters({ limit, offset }));
      expect(await page(3, 0)).toEqual(['c', 'a', 'd']);
      expect(await page(3, 3)).toEqual(['b']);
      expect(await page(3, 4)).toEqual([]);
    });

    it('returns nothing when it is empty', async () => {
      const store = await opened(bed());
      await put(store, [delivery('waiting')]);
      for (const id of ['waiting', 'unknown', '__proto__']) {
        expect(await store.getDeadLetter(id, {})).toBeUndefined();
        expect(await store.redrive(id, { ...ANY, nowMs: START })).toEqual([]);
        expect(await store.purge(id, ANY)).toEqual([]);
      }
      expect((await store.stats()).depth).toBe(1);
    });

    it('redrives a delivery with all attempts available', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a')]);
      await claim(store, 1);
      const nowMs = START + LEASE;
      await settle(other, ends.dead(await claimOne(other, nowMs)), nowMs);
      expect(await other.redrive('a', { ...ANY, limit: 1, nowMs })).toEqual([
        { key: 'shop', id: 'a', bytes: storedBytes(delivery('a')) },
      ]);
      expect(await other.getDeadLetter('a', {})).toBeUndefined();
      expect(await claimOne(other, nowMs)).toMatchObject({
        id: 'a',
        attempt: 1,
        strandings: 0,
        receivedAtMs: START,
      });
      expect(await other.stats()).toMatchObject({ depth: 1, deadLetters: 0, deadLetterBytes: 0 });
    });

    it('redrives all, the oldest first, up to the limit, and an id `all` alone', async () => {
      const store = await opened(bed());
      for (const [at, id] of ['c', 'all', 'a', 'b'].entries()) await bury(store, id, START + at);
      const nowMs = START + 9;
      expect(idsOf(await store.redrive('all', { ...ANY, nowMs }))).toEqual(['all']);
      expect(idsOf(await store.redrive(null, { ...ANY, limit: 2, nowMs }))).toEqual(['c', 'a']);
      expect(idsOf(await store.redrive(null, { ...ANY, limit: 2, nowMs }))).toEqual(['b']);
      expect(await store.redrive(null, { ...ANY, limit: 2, nowMs })).toEqual([]);
    });

    it('redrives no more bytes than the limit, but at least one delivery', async () => {
      const store = await opened(bed());
      const sizes = [100, 5000, 200, 300];
      for (const [at, size] of sizes.entries())
        await put(store, [delivery(String(at), { rawBody: new Uint8Array(size) })], {
          isOverflow: true,
          nowMs: START + at,
        });
      const back = async (maxBytes: number): Promise<string[]> =>
        idsOf(await store.redrive(null, { limit: 9, maxBytes, nowMs: START }));
      expect([await back(2000), await back(2000), await back(2000)]).toEqual([['0'], ['1'], ['2', '3']]);
      expect(await back(2000)).toEqual([]);
    });

    it('purges no more bytes than the limit, and with beforeMs only older ones', async () => {
      const store = await opened(bed());
      for (const at of [0, 1, 2])
        await put(store, [delivery(String(at), { rawBody: new Uint8Array(1000) })], {
          isOverflow: true,
          nowMs: START + at,
        });
      expect(await store.purge(null, { ...ANY, beforeMs: START })).toEqual([]);
      expect(idsOf(await store.purge(null, { ...ANY, beforeMs: START + 1 }))).toEqual(['0']);
      expect(idsOf(await store.purge(null, { limit: 9, maxBytes: 1500 }))).toEqual(['1']);
      expect(await store.stats()).toMatchObject({ deadLetters: 1 });
    });

    it('redrives and purges up to a position, and leaves later ones', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a'), delivery('b')], { isOverflow: true });
      const { upTo } = await store.countDeadLetters(null, {});
      await put(store, [delivery('later'), delivery('latest')], { isOverflow: true, nowMs: START + 1 });
      expect(idsOf(await store.redrive(null, { ...ANY, limit: 1, upTo, nowMs: START + 2 }))).toEqual(['a']);
      expect(idsOf(await store.purge(null, { ...ANY, upTo }))).toEqual(['b']);
      expect(await store.redrive(null, { ...ANY, upTo, nowMs: START + 2 })).toEqual([]);
      expect(await store.purge(null, { ...ANY, upTo })).toEqual([]);
      expect(await store.countDeadLetters(null, {})).toMatchObject({ count: 2 });
    });

    it('counts all, those of a key, of an id, and of both', async () => {
      const store = await opened(bed());
      const three = [delivery('a', { key: 'x' }), delivery('a', { key: 'y' }), delivery('b', { key: 'x' })];
      await put(store, three, { isOverflow: true });
      const count = async (id: string | null, key?: string): Promise<number> =>
        (await store.countDeadLetters(id, { key })).count;
      expect([await count(null), await count(null, 'x'), await count('a')]).toEqual([3, 2, 2]);
      expect([await count('a', 'y'), await count('c')]).toEqual([1, 0]);
    });

    it('redrives an id from every key', async () => {
      const store = await opened(bed());
      const both = [delivery('a', { key: 'x' }), delivery('a', { key: 'y' }), delivery('b', { key: 'x' })];
      await put(store, both, { isOverflow: true });
      expect(await store.redrive('a', { ...ANY, limit: 1, nowMs: START })).toHaveLength(1);
      expect(await store.purge('a', ANY)).toHaveLength(1);
      expect(idsOf(await store.listDeadLetters({ limit: 9, offset: 0 }))).toEqual(['b']);
    });

    it('restricts calls to a key, and finds nothing under another', async () => {
      const store = await opened(bed());
      const of = (key: string, ...ids: readonly string[]): Promise<unknown> =>
        put(
          store,
          ids.map((id) => delivery(id, { key })),
          { isOverflow: true },
        );
      await of('x', 'a', 'b');
      await of('y', 'a', 'c');
      await of('', 'a');
      const names = (ones: readonly DeliveryRef[]): string[] => ones.map(({ key, id }) => `${key}/${id}`);
      const list = async (key?: string): Promise<string[]> =>
        names(await store.listDeadLetters({ key, limit: 9, offset: 0 }));
      const nowMs = START;

      expect([await list('x'), await list('z'), await list('')]).toEqual([['x/a', 'x/b'], [], ['/a']]);
      expect(names(await store.listDeadLetters({ key: 'x', limit: 1, offset: 1 }))).toEqual(['x/b']);
      expect(await store.getDeadLetter('a', { key: 'y' })).toMatchObject({ key: 'y', id: 'a' });
      expect(await store.getDeadLetter('c', { key: 'x' })).toBeUndefined();
      expect(await store.redrive('c', { ...ANY, key: 'x', nowMs })).toEqual([]);
      expect(await store.purge('c', { ...ANY, key: 'x' })).toEqual([]);

      expect(names(await store.redrive('a', { ...ANY, key: 'y', nowMs }))).toEqual(['y/a']);
      expect(await store.purge('a', { ...ANY, key: '' })).toHaveLength(1);
      expect(await list()).toEqual(['x/a', 'x/b', 'y/c']);
      expect(names(await store.redrive(null, { ...ANY, key: 'x', limit: 1, nowMs }))).toEqual(['x/a']);
      expect(await store.purge(null, { ...ANY, key: 'x' })).toHaveLength(1);
      expect(await list()).toEqual(['y/c']);
      expect(await store.stats()).toMatchObject({ depth: 2, deadLetters: 1 });
    });

    it('lists the sizes of bodies instead of the bodies', async () => {
      const store = await opened(bed());
      const bodies = [new Uint8Array(), new Uint8Array(70_000)];
      await put(
        store,
        bodies.map((rawBody, at) => delivery(String(at), { rawBody, sender: 'github' })),
        { isOverflow: true },
      );
      const listed = await store.listDeadLetters({ limit: 9, offset: 0 });
      expect(listed.map(({ bodyBytes }) => bodyBytes)).toEqual([0, 70_000]);
      expect(listed[1]).toEqual({
        id: '1',
        key: 'shop',
        isIdGenerated: false,
        sender: 'github',
        request: { method: 'POST', url: '/webhooks', params: {} },
        context: null,
        headers: { 'content-type': 'application/json' },
        receivedAtMs: START,
        sealedBy: undefined,
        fingerprint: undefined,
        bodyBytes: 70_000,
        attempts: 0,
        reason: 'overflow',
        error: '',
        deadAtMs: START,
      });
    });

    it('forgets purged ids, so that they are accepted again', async () => {
      const store = await opened(bed());
      await bury(store, 'a');
      await bury(store, 'b');
      expect(await store.purge('a', ANY)).toHaveLength(1);
      expect(await put(store, [delivery('a'), delivery('b')])).toEqual(['stored', 'duplicate']);
      expect(await store.purge(null, ANY)).toHaveLength(1);
      expect(await store.stats()).toMatchObject({ depth: 1, deadLetters: 0, deadLetterBytes: 0 });
    });
  });
}
