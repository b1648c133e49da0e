import type { InboxStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claimOne, delivery, ends, opened, put, settle, START } from './store-fixtures.ts';

const ALL = Number.MAX_SAFE_INTEGER;

async function completeAt(
  store: InboxStore,
  id: string,
  nowMs: number,
  isIdGenerated = false,
): Promise<void> {
  await put(store, [delivery(id, { isIdGenerated })], { nowMs });
  await settle(store, ends.completed(await claimOne(store, nowMs)), nowMs);
}

export function retention(bed: BedOf): void {
  describe('forget', () => {
    it('forgets ids completed before the time, and no others', async () => {
      const store = await opened(bed());
      // A running inbox calls it repeatedly, so that a store can close a group.
      for (const at of [1, 2, 3]) {
        await completeAt(store, String(at), START + at);
        expect(await store.forget({ beforeMs: START, keep: ALL, limit: 100, nowMs: START + 1 + at })).toBe(0);
      }
      expect(await store.forget({ beforeMs: START + 2, keep: ALL, limit: 100, nowMs: START + 9 })).toBe(1);
      expect(await put(store, [delivery('1'), delivery('2'), delivery('3')])).toEqual([
        'stored',
        'duplicate',
        'duplicate',
      ]);
    });

    it('keeps no more than `keep`, the latest', async () => {
      const store = await opened(bed());
      let forgotten = 0;
      for (const at of [1, 2, 3]) {
        await completeAt(store, String(at), START + at);
        forgotten += await store.forget({ beforeMs: 0, keep: 1, limit: 100, nowMs: START + at });
      }
      expect(forgotten).toBe(2);
      expect((await store.stats()).remembered).toBe(1);
      expect(await put(store, [delivery('2'), delivery('3')])).toEqual(['stored', 'duplicate']);
    });

    it('forgets no more than `limit` per call', async () => {
      const store = await opened(bed());
      for (const at of [1, 2, 3]) await completeAt(store, String(at), START + at);
      const forget = (): unknown =>
        store.forget({ beforeMs: START + 9, keep: 0, limit: 2, nowMs: START + 9 });
      expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0]);
    });

    it('never forgets too early, and at most an eighth too late', async () => {
      const store = await opened(bed());
      const retention = 8000;
      const keep = 40;
      const completedAtMs = new Map<string, number>();
      for (let at = 0; at < 240; at += 1) {
        const nowMs = START + at * 250;
        await completeAt(store, String(at), nowMs);
        completedAtMs.set(String(at), nowMs);
        // By age, with two ids a second and a retention of eight seconds; then by number.
        const beforeMs = at < 120 ? nowMs - retention : 0;
        await store.forget({ beforeMs, keep: at < 120 ? ALL : keep, limit: 100, nowMs });
        const { remembered } = await store.stats();
        if (at >= 50 && at < 120) expect(remembered).toBeGreaterThanOrEqual(retention / 250);
        if (at >= 50 && at < 120) expect(remembered).toBeLessThanOrEqual((retention / 250) * (1 + 1 / 8) + 3);
        if (at >= 170) expect(remembered).toBeGreaterThanOrEqual(keep);
        if (at >= 170) expect(remembered).toBeLessThanOrEqual(keep * (1 + 1 / 8) + 3);
      }
      const last = [...completedAtMs.keys()].slice(-keep).map((id) => delivery(id));
      expect(new Set(await put(store, last))).toEqual(new Set(['duplicate']));
    });

    it('keeps the ids of unfinished deliveries and dead letters', async () => {
      const store = await opened(bed());
      await put(store, [delivery('deadLetters')], { isOverflow: true });
      await put(store, [delivery('waiting')]);
      expect(await store.forget({ beforeMs: START + 9, keep: 0, limit: 100, nowMs: START + 9 })).toBe(0);
      expect(await put(store, [delivery('deadLetters'), delivery('waiting')])).toEqual([
        'duplicate',
        'duplicate',
      ]);
    });

    it('forgets a single id', async () => {
      const store = await opened(bed());
      for (const id of ['a', 'b']) await completeAt(store, id, START);
      expect(await store.forgetId({ key: 'shop', id: 'a' })).toBe(true);
      expect(await store.forgetId({ key: 'shop', id: 'a' })).toBe(false);
      expect(await store.forgetId({ key: 'other', id: 'b' })).toBe(false);
      expect(await store.stats()).toMatchObject({ remembered: 1 });
      expect(await put(store, [delivery('a'), delivery('b')])).toEqual(['stored', 'duplicate']);
      // Unfinished deliveries and dead letters are not completed, and must not be lost.
      await put(store, [delivery('deadLetters')], { isOverflow: true });
      for (const id of ['a', 'deadLetters']) expect(await store.forgetId({ key: 'shop', id })).toBe(false);
      expect(await store.stats()).toMatchObject({ depth: 1, deadLetters: 1 });
    });

    it('does not remember a generated id', async () => {
      const store = await opened(bed());
      await completeAt(store, 'made-up', START, true);
      expect((await store.stats()).remembered).toBe(0);
      expect(await put(store, [delivery('made-up')])).toEqual(['stored']);
    });
  });
}
