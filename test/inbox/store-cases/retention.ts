import type { InboxStore } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../store-bed.ts';
import { claimOne, delivery, ends, opened, put, settle, START } from './store-words.ts';

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
    it('forgets what was completed before, and no later', async () => {
      const store = await opened(bed());
      for (const at of [1, 2, 3]) await completeAt(store, String(at), START + at);
      expect(await store.forget({ beforeMs: START + 2, keep: ALL, limit: 100 })).toBe(1);
      expect(await put(store, [delivery('1'), delivery('2'), delivery('3')])).toEqual([
        'stored',
        'duplicate',
        'duplicate',
      ]);
    });

    it('keeps no more than it is told, the latest', async () => {
      const store = await opened(bed());
      for (const at of [1, 2, 3]) await completeAt(store, String(at), START + at);
      expect(await store.forget({ beforeMs: 0, keep: 1, limit: 100 })).toBe(2);
      expect((await store.stats()).remembered).toBe(1);
      expect(await put(store, [delivery('2'), delivery('3')])).toEqual(['stored', 'duplicate']);
    });

    it('does no more than it is told at a time', async () => {
      const store = await opened(bed());
      for (const at of [1, 2, 3]) await completeAt(store, String(at), START + at);
      const forget = (): unknown => store.forget({ beforeMs: START + 9, keep: 0, limit: 2 });
      expect([await forget(), await forget(), await forget()]).toEqual([2, 1, 0]);
    });

    it('leaves what is unfinished and what is on the shelf', async () => {
      const store = await opened(bed());
      await put(store, [delivery('shelved')], { isOverflow: true });
      await put(store, [delivery('waiting')]);
      expect(await store.forget({ beforeMs: START + 9, keep: 0, limit: 100 })).toBe(0);
      expect(await put(store, [delivery('shelved'), delivery('waiting')])).toEqual([
        'duplicate',
        'duplicate',
      ]);
    });

    it('has nothing to forget of an id that was made up here', async () => {
      const store = await opened(bed());
      await completeAt(store, 'made-up', START, true);
      expect((await store.stats()).remembered).toBe(0);
      expect(await put(store, [delivery('made-up')])).toEqual(['stored']);
    });
  });
}
