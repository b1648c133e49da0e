import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
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
  ROOMY,
  settle,
  START,
  storedBytes,
} from './store-fixtures.ts';

/** Strings with a special meaning in objects, SQL, terminals or encoders. */
const ODD = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'all',
  'null',
  "'; DROP TABLE deliveries; --",
  '%_\\',
  'a\u0000b',
  '\uD800',
  '\uDC00',
  '","',
  'ключ',
  '🪝',
  'e\u0301',
  '\u00e9',
  'x'.repeat(256),
  // Lone surrogates, which UTF-8 cannot encode, and their replacements.
  '\ud801',
  '\ud800\ud800',
  '\udc00\ud800',
  'a\ud800b',
  '\ufffd',
  '\\ud800',
];

export function puts(bed: BedOf): void {
  describe('put', () => {
    it('stores a delivery unchanged', async () => {
      const store = await opened(bed());
      const rawBody = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const one = delivery('a', {
        rawBody,
        sender: 'github',
        headers: { 'x-github-event': 'push', 'x-empty': '', 'x-odd': 'é 🪝 "\\' },
        request: { method: 'PUT', url: '/a/é?b=%00\u0000', params: { tenant: 'é\ud800', '0': '' } },
        context: { tenant: ['\ud800', null, 1.5, { deep: true }] },
        receivedAtMs: START - 5,
      });
      expect(await put(store, [one])).toEqual(['stored']);
      const claimed = await claimOne(store);
      // A store may return a Buffer, which is a Uint8Array.
      expect({ ...claimed, rawBody: Uint8Array.from(claimed.rawBody) }).toEqual({
        ...one,
        attempt: 1,
        strandings: 0,
      });
    });

    it('stores an encrypted delivery with the id of its key', async () => {
      const store = await opened(bed());
      const nothing = { request: { method: '', url: '', params: {} }, context: null, headers: {} };
      const one = delivery('a', { ...nothing, sealedBy: 'key-1', fingerprint: Uint8Array.of(1, 2) });
      await put(store, [one, delivery('b', { ...nothing, sealedBy: 'key-2' })], { isOverflow: true });
      const listed = await store.listDeadLetters({ limit: 9, offset: 0 });
      expect(listed.map(({ id, sealedBy }) => [id, sealedBy]).sort()).toEqual([
        ['a', 'key-1'],
        ['b', 'key-2'],
      ]);
      expect(await store.getDeadLetter('a', {})).toMatchObject({ ...nothing, sealedBy: 'key-1' });
      await store.redrive('a', { limit: 1, maxBytes: 1 << 30, nowMs: START });
      const claimed = await claimOne(store);
      expect(claimed).toMatchObject({ ...nothing, id: 'a', sealedBy: 'key-1' });
      expect(Uint8Array.from(claimed.rawBody)).toEqual(one.rawBody);
    });

    it('keeps an empty body, one of 1 MiB, and a header of any name', async () => {
      const store = await opened(bed());
      const large = new Uint8Array(1 << 20).map((_, at) => at % 251);
      const headers = Object.fromEntries([['__proto__', 'x']]);
      await put(store, [
        delivery('empty', { rawBody: new Uint8Array() }),
        delivery('large', { rawBody: large, headers }),
      ]);
      const [empty, full] = await claim(store, 2);
      expect(empty?.rawBody.byteLength).toBe(0);
      expect(Buffer.from(full?.rawBody ?? []).equals(Buffer.from(large))).toBe(true);
      expect(Object.entries(full?.headers ?? {})).toEqual([['__proto__', 'x']]);
    });

    it('returns duplicate for an unfinished id of the same batch or an earlier one', async () => {
      const store = await opened(bed());
      expect(await put(store, [delivery('a'), delivery('b'), delivery('a')])).toEqual([
        'stored',
        'stored',
        'duplicate',
      ]);
      expect(await put(store, [delivery('b'), delivery('c')])).toEqual(['duplicate', 'stored']);
      expect((await store.stats()).depth).toBe(3);
    });

    it('returns duplicate for a delivery that is claimed, waits for a retry, is dead or completed', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const first = await claimOne(store);
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
      await settle(store, ends.failed(first, START + 1000));
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
      await settle(store, ends.completed(await claimOne(store, START + 1000)));
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
      await put(store, [delivery('b')]);
      await settle(store, ends.dead(await claimOne(store)));
      expect(await put(store, [delivery('b')])).toEqual(['duplicate']);
    });

    it('returns conflict for a duplicate with another body in any state of the first one', async () => {
      const store = await opened(bed());
      const body = (text: string): { rawBody: Uint8Array } => ({ rawBody: new TextEncoder().encode(text) });
      const both = async (id: string): Promise<readonly unknown[]> =>
        await put(store, [delivery(id, body('first')), delivery(id, body('First'))]);
      const places = [
        'batch',
        'claimed',
        'retry',
        'shelf',
        'overflow',
        'remembered',
        'kept',
        'redriven',
        'replayed',
      ];
      await put(store, [delivery('overflow', body('first'))], { isOverflow: true });
      for (const id of places.filter((place) => place !== 'overflow')) {
        expect(await put(store, [delivery(id, body('first'))])).toEqual(['stored']);
        if (id === 'batch') continue;
        const claimed = (await claim(store, 9)).find((one) => one.id === id) as ClaimedDelivery;
        if (id === 'retry') await settle(store, ends.failed(claimed, START + 1e6));
        if (id === 'shelf' || id === 'redriven') await settle(store, ends.dead(claimed));
        if (id === 'remembered') await settle(store, ends.completed(claimed));
        if (id === 'kept' || id === 'replayed') await settle(store, ends.kept(claimed));
      }
      expect(await store.redrive('redriven', { ...ANY, nowMs: START })).toHaveLength(1);
      expect(await store.replay('replayed', { ...ANY, nowMs: START })).toHaveLength(1);
      for (const id of places) expect([id, ...(await both(id))]).toEqual([id, 'duplicate', 'conflict']);
      expect(await put(store, [delivery('new', body('a')), delivery('new', body('b'))])).toEqual([
        'stored',
        'conflict',
      ]);
    });

    it('distinguishes equal ids of different keys', async () => {
      const store = await opened(bed());
      const both = [delivery('a', { key: 'x' }), delivery('a', { key: 'y' })];
      expect(await put(store, both)).toEqual(['stored', 'stored']);
      expect(await put(store, [delivery('ya', { key: '' }), delivery('a', { key: 'y' })])).toEqual([
        'stored',
        'duplicate',
      ]);
    });

    it('accepts any strings as keys and ids, and distinguishes all of them', async () => {
      const store = await opened(bed());
      const all = ODD.flatMap((key) => ODD.map((id) => delivery(id, { key })));
      expect(new Set(await put(store, all))).toEqual(new Set(['stored']));
      expect(new Set(await put(store, all))).toEqual(new Set(['duplicate']));
      const claimed = await claim(store, 1000);
      const names = (ones: readonly { key: string; id: string }[]): string[] =>
        ones.map(({ key, id }) => JSON.stringify([key, id])).sort();
      expect(names(claimed)).toEqual(names(all));
      expect(await store.settle(claimed.map(ends.completed), START)).toEqual(claimed.map(() => true));
      expect((await store.stats()).depth).toBe(0);
      expect(new Set(await put(store, all))).toEqual(new Set(['duplicate']));
      expect((await store.stats()).remembered).toBe(all.length);
    });

    it('returns full at the capacity, and stores again when one is finished', async () => {
      const store = await opened(bed());
      const limits = { ...ROOMY, capacity: 2 };
      expect(await put(store, [delivery('a'), delivery('b'), delivery('c')], { limits })).toEqual([
        'stored',
        'stored',
        'full',
      ]);
      // A known id is never full.
      expect(await put(store, [delivery('a')], { limits })).toEqual(['duplicate']);
      await settle(store, ends.completed(await claimOne(store)));
      expect(await put(store, [delivery('c'), delivery('d')], { limits })).toEqual(['stored', 'full']);
    });

    it('says without any room which ids are known, and stores nothing', async () => {
      const store = await opened(bed());
      const none = { capacity: 0, maxBytes: 0, maxDeadLetters: 0, maxDeadLetterBytes: 0 };
      await put(store, [delivery('completed')]);
      await settle(store, ends.completed(await claimOne(store)));
      await put(store, [delivery('unfinished')]);
      const ids = ['completed', 'new', 'unfinished', 'new'];
      for (let at = 0; at < 2; at += 1) {
        const results = await put(
          store,
          ids.map((id) => delivery(id)),
          { limits: none },
        );
        expect(results).toEqual(['duplicate', 'full', 'duplicate', 'full']);
      }
      expect((await store.stats()).depth).toBe(1);
      expect(await put(store, [delivery('new')])).toEqual(['stored']);
    });

    it('returns full above maxBytes, to the byte, and stores a smaller one', async () => {
      const store = await opened(bed());
      const [a, b] = [delivery('a'), delivery('b')];
      const maxBytes = storedBytes(a) + storedBytes(b);
      expect(
        await put(store, [a, delivery('large', { rawBody: new Uint8Array(5000) }), b], {
          limits: { ...ROOMY, capacity: 9, maxBytes },
        }),
      ).toEqual(['stored', 'full', 'stored']);
      expect((await store.stats()).bytes).toBe(maxBytes);
      const other = await put(store, [delivery('c')], {
        limits: { ...ROOMY, capacity: 9, maxBytes: maxBytes + storedBytes(b) - 1 },
      });
      expect(other).toEqual(['full']);
    });

    it('counts unfinished deliveries only', async () => {
      const store = await opened(bed());
      await put(store, [
        delivery('a', { receivedAtMs: START - 50 }),
        delivery('b', { receivedAtMs: START - 10 }),
      ]);
      const a = await claimOne(store);
      expect(await store.stats()).toEqual({
        drained: 0,
        depth: 2,
        inFlight: 1,
        bytes: storedBytes(delivery('a')) + storedBytes(delivery('b')),
        deadLetters: 0,
        deadLetterBytes: 0,
        remembered: 0,
        retained: 0,
        retainedBytes: 0,
        oldestReceivedAtMs: START - 50,
        isPaused: false,
        pausedKeys: [],
      });
      await settle(store, ends.completed(a));
      expect(await store.stats()).toMatchObject({
        depth: 1,
        drained: 1,
        inFlight: 0,
        remembered: 1,
        oldestReceivedAtMs: START - 10,
      });
      await settle(store, ends.completed(await claimOne(store)));
      expect(await store.stats()).toMatchObject({
        depth: 0,
        bytes: 0,
        drained: 2,
        remembered: 2,
        oldestReceivedAtMs: undefined,
      });
    });

    it('returns the depth of each key when it is opened', async () => {
      const store = await opened(bed());
      await put(store, [
        delivery('a', { key: 'x' }),
        delivery('b', { key: 'x' }),
        delivery('a', { key: '__proto__' }),
      ]);
      await claimOne(store);
      const other = await bed().store();
      const found = await other.open(START);
      expect(found).toMatchObject({ depth: 3, inFlight: 1 });
      expect([...found.depthByKey].sort()).toEqual([
        ['__proto__', 1],
        ['x', 2],
      ]);
      expect(new Map(await store.depthByKey())).toEqual(found.depthByKey);
    });

    it('stores nothing for an empty batch', async () => {
      const store = await opened(bed());
      expect(await put(store, [])).toEqual([]);
      expect(idsOf(await claim(store, 5))).toEqual([]);
    });
  });
}
