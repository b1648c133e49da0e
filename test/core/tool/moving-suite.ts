import { once } from 'node:events';
import { createInbox, type InboxStore } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  claim,
  claimOne,
  delivery,
  ends,
  opened,
  put,
  settle,
  START,
} from '../inbox/store/cases/store-fixtures.ts';
import { jsonOf, type ToolBed } from './tool-bed.ts';

/** The commands that find, count and move deliveries, on any store. */
export function movingSuite(name: string, create: () => ToolBed): void {
  describe(`the tool ${name}`, () => {
    let bed: ToolBed;
    const tool = (...args: readonly string[]) => bed.tool(...args);
    const json = (...args: readonly string[]) => jsonOf(bed, ...args);

    /** A pending delivery, a dead letter, a completed delivery that is kept, and an id that is remembered. */
    beforeEach(async () => {
      bed = create();
      const store = await opened(bed);
      await put(store, [delivery('kept'), delivery('remembered'), delivery('waiting')]);
      const [kept, remembered, waiting] = await claim(store, 3);
      await settle(store, ends.kept(kept as NonNullable<typeof kept>), START + 1);
      await settle(store, ends.completed(remembered as NonNullable<typeof remembered>), START + 1);
      await settle(store, ends.failed(waiting as NonNullable<typeof waiting>, 5000));
      await put(store, [delivery('dead', { key: 'other' }), delivery('waiting', { key: 'other' })], {
        isOverflow: true,
      });
      await store.close(START + 3);
    });
    afterEach(() => bed.dispose());

    describe('the commands that read', () => {
      it('count, list, show and find deliveries without changing the store', async () => {
        const before = await bed.contents();
        expect(await json('status')).toMatchObject({ depth: 1, deadLetters: 2, retained: 1, remembered: 2 });
        expect(await json('pending')).toEqual({
          deliveries: [
            {
              id: 'waiting',
              key: 'shop',
              sender: null,
              attempts: 1,
              bodyBytes: 16,
              state: 'ready',
              receivedAt: new Date(START).toISOString(),
              dueAt: new Date(5000).toISOString(),
            },
          ],
          next: null,
        });
        expect(await json('completed')).toMatchObject({
          deliveries: [{ id: 'kept', attempts: 1, completedAt: new Date(START + 1).toISOString() }],
        });
        expect(await json('show', 'kept')).toMatchObject({ place: 'completed', body: '{"id":"kept"}' });
        expect(await json('show', 'waiting', '--key', 'shop')).toMatchObject({
          place: 'pending',
          attempts: 1,
        });
        expect(await json('find', 'waiting')).toEqual({
          id: 'waiting',
          places: [
            { key: 'other', place: 'dead' },
            { key: 'shop', place: 'pending' },
          ],
        });
        expect(await json('find', 'remembered', '--key', 'shop')).toEqual({
          id: 'remembered',
          places: [{ key: 'shop', place: 'remembered' }],
        });
        expect((await tool('find', 'remembered')).err).toContain('add --key');
        expect((await tool('pending')).out).toMatch(/^waiting +shop +ready +1 /m);
        expect((await tool('pending', '--state', 'delayed')).out).toBe('There are no pending deliveries.\n');
        expect((await tool('completed', '--key', 'none')).out).toContain('are kept with the key "none"');
        expect(await bed.contents()).toBe(before);
      });

      it('list in pages', async () => {
        const store = await opened(bed);
        await put(store, [delivery('second'), delivery('third')]);
        await store.close(START);
        const first = (await json('pending', '--limit', '1')) as { readonly next: number };
        const { out } = await tool('pending', '--limit', '1');
        expect(out).toContain(`and more: --after ${String(first.next)}`);
        expect(await json('pending', '--after', String(first.next))).toMatchObject({
          deliveries: [{ id: 'second' }, { id: 'third' }],
          next: null,
        });
      });
    });

    describe('replay and forget', () => {
      it('queue a completed delivery again, and accept an id again', async () => {
        expect(await json('replay', 'kept')).toEqual({ replayed: 1 });
        expect((await tool('replay', 'kept')).err).toContain(
          'There is no delivery "kept" among the completed deliveries',
        );
        expect(await json('forget', 'remembered', '--key', 'shop')).toEqual({ forgotten: true });
        expect((await tool('forget', 'remembered', '--key', 'shop')).code).toBe(1);
        expect((await tool('forget', 'remembered')).err).toBe('forget needs --key. Try --help.\n');
        const store = await opened(bed);
        expect(await put(store, [delivery('remembered'), delivery('kept')])).toEqual(['stored', 'duplicate']);
        expect(await store.stats()).toMatchObject({ depth: 3, retained: 0, remembered: 0 });
        await store.close(START);
      });
    });

    describe('pause and resume', () => {
      it('stop and restart claims, of the inbox and of a key', async () => {
        expect(await tool('pause', '--key', 'other')).toMatchObject({
          code: 0,
          out: 'Paused: the key "other".\n',
        });
        expect(await tool('pause')).toMatchObject({ code: 0, out: 'Paused: the inbox.\n' });
        expect(await json('status')).toMatchObject({ isPaused: true, pausedKeys: ['other'] });
        const store = await opened(bed);
        await put(store, [delivery('shop'), delivery('others', { key: 'other' })]);
        expect(await claim(store, 9)).toEqual([]);
        expect(await tool('resume')).toMatchObject({ code: 0, out: 'Resumed: the inbox.\n' });
        expect((await claim(store, 9)).map(({ id }) => id)).toEqual(['waiting', 'shop']);
        expect(await tool('resume', '--key', 'other')).toMatchObject({ code: 0 });
        expect((await claim(store, 9)).map(({ id }) => id)).toEqual(['others']);
        expect(await tool('resume')).toMatchObject({
          code: 1,
          err: 'Nothing to resume: the inbox is not paused.\n',
        });
        await store.close(START);
      });
    });

    describe('redrive beside a receiver', () => {
      async function shelve(store: InboxStore, count: number): Promise<void> {
        const ones = Array.from({ length: count }, (_, at) => delivery(`n${String(at)}`));
        await put(store, ones, { isOverflow: true });
      }

      it('stops at the low-water mark without a receiver', async () => {
        const store = await opened(bed);
        await shelve(store, 20);
        await store.noteRoom({ depth: 10, bytes: 1 << 30 });
        await store.close(START);
        const { code, out } = await tool('redrive', 'all', '--json');
        expect([code, JSON.parse(out)]).toEqual([1, { redriven: 9, left: 13 }]);
        expect((await tool('redrive', 'all')).out).toBe(
          '0 deliveries put back into the queue. The queue has no room for more: 13 deliveries left in the dead-letter queue.\n',
        );
        // A single delivery is redriven above the mark.
        expect(await json('redrive', 'n19')).toEqual({ redriven: 1 });
      });

      it.each([
        ['with room for all', 1000],
        ['with room for some', 250],
      ])('reports what is really left beside another redrive, %s', async (_, depth) => {
        const store = await opened(bed);
        await shelve(store, 500);
        await store.noteRoom({ depth, bytes: 1 << 30 });
        await store.close(START);
        const ended = await Promise.all([1, 2].map(() => tool('redrive', 'all', '--json')));
        const answers = ended.map(({ out }) => JSON.parse(out) as { redriven: number; left?: number });
        const { deadLetters } = (await json('status')) as { deadLetters: number };
        // One may have ended before the other.
        expect(Math.min(...answers.map(({ left = 0 }) => left))).toBe(deadLetters);
        expect(answers.reduce((sum, { redriven }) => sum + redriven, deadLetters)).toBe(502);
      });

      it('continues as the receiver makes room, and never fills the inbox', async () => {
        const filler = await opened(bed);
        await shelve(filler, 25);
        await filler.close(START);
        let most = 0;
        const inbox = createInbox({
          store: await bed.store(),
          verify: false,
          capacity: 40,
          highWaterMark: 1,
          lowWaterMark: 0.5,
          process: () => new Promise((resolve) => setTimeout(resolve, 5)),
          concurrency: 2,
        });
        const end = inbox.subscribe(() => (most = Math.max(most, inbox.snapshot().depth)));
        const events = new EventTarget();
        inbox.subscribe(({ type }) => {
          if (type === 'completed' && inbox.snapshot().totals.completed >= 28)
            events.dispatchEvent(new Event('done'));
        });
        // The maintenance at the start has stored the mark.
        await new Promise((resolve) => setTimeout(resolve, 50));
        const done = once(events, 'done');
        const { code, out } = await bed.program('redrive', 'all', '--json');
        expect([code, JSON.parse(out)]).toEqual([0, { redriven: 27 }]);
        await done;
        end();
        expect(most).toBeLessThanOrEqual(21);
        expect(inbox.snapshot().totals.refused).toMatchObject({ full: 0, shedding: 0 });
        await inbox.close();
      }, 60_000);
    });

    it('shows a claim made after the last command', async () => {
      const store = await opened(bed);
      expect((await claimOne(store, START + 9999)).id).toBe('waiting');
      expect(await json('pending', '--state', 'active')).toMatchObject({ deliveries: [{ id: 'waiting' }] });
      await store.close(START);
    });
  });
}
