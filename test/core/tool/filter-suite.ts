import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claim, delivery, ends, opened, put, settle, START } from '../inbox/store/cases/store-fixtures.ts';
import { jsonOf, type ToolBed } from './tool-bed.ts';

const HOUR = 3_600_000;

/** The options that choose deliveries, on any store. */
export function filterSuite(name: string, create: () => ToolBed): void {
  describe(`filters of the tool ${name}`, () => {
    let bed: ToolBed;
    const tool = (...args: readonly string[]) => bed.tool(...args);
    const json = (...args: readonly string[]) => jsonOf(bed, ...args);
    const ids = async (...args: readonly string[]): Promise<string[]> => {
      const { deliveries } = (await json(...args)) as { deliveries: { id: string }[] };
      return deliveries.map(({ id }) => id);
    };

    /** Six dead letters, one an hour, and a completed delivery that is kept. */
    beforeEach(async () => {
      bed = create();
      const store = await opened(bed);
      const body = (text: string): Uint8Array => new TextEncoder().encode(text);
      const ones = [
        delivery('s1', { sender: 'stripe', rawBody: body('{"type":"invoice.paid","customer":"cus_A"}') }),
        delivery('s2', { sender: 'stripe', rawBody: body('{"type":"invoice.paid","customer":"cus_B"}') }),
        delivery('s3', { sender: 'stripe', rawBody: body('{"type":"charge.failed","customer":"cus_A"}') }),
        delivery('g1', { sender: 'github', headers: { 'x-github-event': 'push' } }),
        delivery('g2', { key: 'other', sender: 'github', headers: { 'x-github-event': 'star' } }),
        delivery('kept', { sender: 'stripe', rawBody: body('{"type":"invoice.paid"}') }),
        delivery('waits', { sender: 'github', headers: { 'x-github-event': 'push' } }),
      ];
      await put(store, ones);
      const claimed = await claim(store, 9);
      for (const [at, { id }] of ones.entries()) {
        const one = claimed.find((other) => other.id === id) as ClaimedDelivery;
        const nowMs = START + at * HOUR;
        const error =
          one.sender === 'stripe' ? 'Error: connect Timeout\n  at x' : 'Error: no such repository';
        if (one.id === 'kept') await settle(store, ends.kept(one), nowMs);
        else if (one.id === 'waits') await settle(store, ends.failed(one, nowMs), nowMs);
        else await settle(store, ends.dead(one, error), nowMs);
      }
      await store.close(START);
    });
    afterEach(() => bed.dispose());

    it('choose by sender, error, event, text, key, and times', async () => {
      expect(await ids('dead', '--sender', 'stripe')).toEqual(['s1', 's2', 's3']);
      expect(await ids('dead', '--error', 'timeout')).toEqual(['s1', 's2', 's3']);
      expect(await ids('dead', '--event', 'invoice.paid')).toEqual(['s1', 's2']);
      expect(await ids('dead', '--event', 'push')).toEqual(['g1']);
      expect(await ids('dead', '--text', 'cus_A')).toEqual(['s1', 's3']);
      expect(await ids('dead', '--text', 'cus_a')).toEqual([]);
      expect(await ids('dead', '--text', 'cus_A', '--event', 'charge.failed')).toEqual(['s3']);
      expect(await ids('dead', '--sender', 'github', '--key', 'other')).toEqual(['g2']);
      const { deliveries } = (await json('dead')) as { deliveries: { id: string; deadAt: string }[] };
      const [, second, third] = deliveries;
      expect(await ids('dead', '--from', second?.deadAt ?? '')).toEqual(['s2', 's3', 'g1', 'g2']);
      expect(await ids('dead', '--from', second?.deadAt ?? '', '--to', third?.deadAt ?? '')).toEqual(['s2']);
      const day = new Date(START).toISOString().slice(0, 10);
      expect(await ids('dead', '--received-from', day)).toHaveLength(5);
      expect(await ids('dead', '--received-to', `${day}T00:00`)).toEqual([]);
      expect(await ids('completed', '--event', 'invoice.paid')).toEqual(['kept']);
      expect(await ids('completed', '--text', 'charge')).toEqual([]);
      expect(await ids('pending', '--event', 'push')).toEqual(['waits']);
      expect((await tool('dead', '--sender', 'none')).out).toBe('No dead letters match.\n');
      expect((await tool('pending', '--sender', 'none')).out).toBe('No pending deliveries match.\n');
    });

    it('list in pages', async () => {
      const first = (await json('dead', '--sender', 'stripe', '--limit', '2')) as { next: number };
      expect(first).toMatchObject({
        deliveries: [{ id: 's1' }, { id: 's2' }],
        next: expect.any(Number) as number,
      });
      const { out } = await tool('dead', '--sender', 'stripe', '--limit', '2');
      expect(out).toMatch(new RegExp(`^and maybe more: --after ${String(first.next)}$`, 'm'));
      expect(await ids('dead', '--sender', 'stripe', '--after', String(first.next))).toEqual(['s3']);
      expect(await ids('dead', '--after', '0', '--limit', '1')).toEqual(['s1']);
    });

    it('redrive, replay and purge what matches, after a dry run', async () => {
      const { code, out } = await tool('redrive', '--error', 'timeout', '--dry-run');
      expect(code).toBe(0);
      expect(out).toMatch(/^3 deliveries would be put back into the queue\.\nID +KEY.*\ns1 /);
      expect(await json('purge', '--text', 'cus_B', '--dry-run')).toMatchObject({
        count: 1,
        first: [{ id: 's2', error: 'Error: connect Timeout\n  at x' }],
      });
      expect(await json('redrive', 'all', '--dry-run', '--key', 'other')).toMatchObject({
        count: 1,
        first: [{ id: 'g2' }],
      });
      expect(await json('redrive', 'g1', '--dry-run')).toMatchObject({ count: 1, first: [{ id: 'g1' }] });
      expect(await json('replay', '--event', 'invoice.paid', '--dry-run')).toMatchObject({
        count: 1,
        first: [{ id: 'kept' }],
      });
      expect(await ids('dead')).toHaveLength(5);

      expect(await json('purge', '--text', 'cus_B')).toEqual({ purged: 1 });
      expect(await json('redrive', 'all', '--error', 'timeout')).toEqual({ redriven: 2 });
      expect((await tool('redrive', '--error', 'timeout')).out).toBe(
        '0 deliveries put back into the queue.\n',
      );
      expect(await json('replay', '--event', 'invoice.paid', '--per-second', '50')).toEqual({ replayed: 1 });
      expect(await ids('dead')).toEqual(['g1', 'g2']);
      expect((await ids('pending')).sort()).toEqual(['kept', 's1', 's3', 'waits']);
    });

    it('move no more than the rate', async () => {
      const startedMs = performance.now();
      expect(await json('redrive', '--sender', 'stripe', '--per-second', '10')).toEqual({ redriven: 3 });
      // Two, and 200 ms later the third.
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(190);
    });

    it('stop at the low-water mark without a receiver, and say what is left', async () => {
      const store = await opened(bed);
      await store.noteRoom({ depth: 3, bytes: 1 << 30 });
      await store.close(START);
      const { code, out } = await tool('redrive', '--sender', 'stripe', '--json');
      expect([code, JSON.parse(out)]).toEqual([1, { redriven: 2, left: 1 }]);
    });

    it.each([
      [['dead', '--sendr', 'a'], /^Unknown option "--sendr"\. Did you mean "--sender"\?/],
      [['redrive', '--dry'], /^Unknown option "--dry"/],
      [['dead', '--error', ''], '--error must not be empty. Try --help.\n'],
      [
        ['redrive', '--from', 'yesterday'],
        '--from must be a date or a time such as 2026-11-27 or 2026-11-27T09:30, but was "yesterday". Try --help.\n',
      ],
      [['redrive', '--to', '2026-02-31T25:00'], /^--to must be a date or a time/],
      [
        ['redrive', 'all', '--per-second', '0'],
        '--per-second must be a number from 0.01 to 100,000, but was "0". Try --help.\n',
      ],
      [['pending', '--error', 'x'], 'pending does not take --error. Try --help.\n'],
      [['completed', '--error', 'x'], 'completed does not take --error. Try --help.\n'],
      [['pending', '--from', '2026-11-27'], 'pending does not take --from. Try --help.\n'],
      [['dead', '--dry-run'], 'dead does not take --dry-run. Try --help.\n'],
    ])('answer a wrong command line with a sentence: %s', async (args, err) => {
      const ended = await tool(...args);
      expect(ended).toMatchObject({ code: 2, out: '' });
      expect(ended.err).toMatch(err);
    });
  });
}
