import type { BucketLimit, Buckets } from '@webhook-backpressure/fleet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Buckets of any kind under test. */
export interface BucketsBed {
  /** Opens the buckets of one more process; of the only one if they are not shared. */
  open(): Promise<Buckets>;
  /** Passes time, on the clocks of all processes and of the server, and lets them do what is due. */
  advance(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

/** The differences that kinds of buckets may have. */
export interface BucketsKind {
  readonly isShared: boolean;
  /** How much later than on time a token may come, in milliseconds. */
  readonly lateMs: number;
}

const MINUTE_MS = 60_000;
/** Slow, so that a test on a real server gets no token while it runs. */
const LIMIT: BucketLimit = { amount: 1, periodMs: MINUTE_MS, burst: 3 };

/** The behavior of all kinds of buckets, wherever they keep the tokens. */
export function describeBuckets(title: string, kind: BucketsKind, bedOf: () => Promise<BucketsBed>): void {
  describe(title, () => {
    let bed: BucketsBed;
    let buckets: Buckets;
    beforeEach(async () => {
      bed = await bedOf();
      buckets = await bed.open();
    });
    afterEach(() => bed.dispose());

    /** Takes up to `count`, also those that come late. */
    async function take(count: number, limit = LIMIT, from = buckets): Promise<number> {
      const { taken, waitMs } = await from.take('a', count, limit);
      if (taken === count || waitMs > kind.lateMs) return taken;
      await bed.advance(waitMs);
      return taken + (await take(count - taken, limit, from));
    }

    it('gives the burst, and then nothing', async () => {
      expect(await take(2)).toBe(2);
      expect(await take(5)).toBe(1);
      expect(await take(1)).toBe(0);
    });

    it('gives a token after the time that it names', async () => {
      await take(3);
      const { taken, waitMs } = await buckets.take('a', 1, LIMIT);
      expect(taken).toBe(0);
      expect(waitMs).toBeGreaterThan(MINUTE_MS - 5_000);
      expect(waitMs).toBeLessThanOrEqual(MINUTE_MS + kind.lateMs);
      await bed.advance(waitMs - 5_000);
      expect(await take(1)).toBe(0);
      await bed.advance(5_000);
      expect(await take(2)).toBe(1);
    });

    it('keeps the buckets of endpoints apart', async () => {
      await take(3);
      expect((await buckets.take('b', 2, LIMIT)).taken).toBe(2);
      expect((await buckets.take('{a}:b c\n☂', 2, LIMIT)).taken).toBe(2);
    });

    it('saves no more than the burst', async () => {
      await take(3);
      await bed.advance(100 * MINUTE_MS);
      expect(await take(100)).toBe(3);
    });

    it('gives returned tokens again', async () => {
      await take(3);
      buckets.giveBack('a', 2, LIMIT);
      await bed.advance(2 * MINUTE_MS);
      expect(await take(5)).toBe(3);
      buckets.giveBack('a', 100, LIMIT);
      await bed.advance(1000);
      expect(await take(100)).toBe(3);
    });

    it('takes tokens anew that were held while others arrived', async () => {
      await take(3);
      await bed.advance(MINUTE_MS + 1000);
      const held = await take(1);
      expect(held).toBe(1);
      await bed.advance(10 * MINUTE_MS);
      const used = (await buckets.use?.('a', held, LIMIT)) ?? held;
      await bed.advance(60);
      const others = await buckets.take('a', 10, LIMIT);
      // With the token of ten minutes ago these would be four.
      expect(used + others.taken).toBeLessThanOrEqual(3);
      expect(used + others.taken).toBeGreaterThanOrEqual(2);
    });

    it('gives nothing during a pause, and does not shorten it', async () => {
      await take(1);
      buckets.pause('a', 10_000, LIMIT);
      buckets.pause('a', 2_000, LIMIT);
      await bed.advance(4_000);
      const { taken, waitMs } = await buckets.take('a', 2, LIMIT);
      expect(taken).toBe(0);
      expect(waitMs).toBeGreaterThan(5_000);
      expect(waitMs).toBeLessThanOrEqual(6_000);
      expect(buckets.peek('a', LIMIT)).toBe(0);
      await bed.advance(waitMs);
      expect(await take(3)).toBe(2);
    });

    it('keeps saved tokens when the limit changes', async () => {
      await take(1);
      expect(await take(1, { ...LIMIT, burst: 100 })).toBe(1);
      expect(await take(100, { ...LIMIT, amount: 7, periodMs: 7 * MINUTE_MS - 1, burst: 100 })).toBe(1);
      await bed.advance(10 * MINUTE_MS);
      expect(await take(100, { ...LIMIT, burst: 2 })).toBe(2);
    });

    it('does not forget used tokens', async () => {
      await take(3);
      buckets.forget('a');
      await bed.advance(MINUTE_MS);
      expect(await take(3)).toBe(1);
      buckets.forget('a');
      buckets.pause('b', 10_000, LIMIT);
      buckets.forget('b');
      await bed.advance(1_000);
      expect((await buckets.take('b', 1, LIMIT)).taken).toBe(0);
    });

    it('shows the tokens that could be taken', async () => {
      await take(2);
      const tokens = buckets.peek('a', LIMIT);
      expect([0, 1]).toContain(tokens);
      await bed.advance(5 * MINUTE_MS);
      const later = buckets.peek('a', LIMIT);
      expect(later === null || later === 3 || later === 2).toBe(true);
    });

    it('counts the processes', async () => {
      await bed.advance(100);
      expect(buckets.processes).toBe(1);
      if (!kind.isShared) return;
      const other = await bed.open();
      await bed.advance(100);
      await bed.advance(2_100);
      expect([buckets.processes, other.processes]).toEqual([2, 2]);
      other.close?.();
      await bed.advance(100);
      await bed.advance(2_100);
      expect(buckets.processes).toBe(1);
    });

    it('gives the rate exactly over a day of uneven use', async () => {
      const limit = { amount: 7, periodMs: 11 * MINUTE_MS, burst: 4 };
      const processes = kind.isShared ? [buckets, await bed.open(), await bed.open()] : [buckets];
      let passedMs = 0;
      let taken = 0;
      for (let step = 0; step < 150; step += 1) {
        const from = processes[step % processes.length] as Buckets;
        taken += await take(1 + (step % 3), limit, from);
        expect(taken).toBeLessThanOrEqual(4 + (7 * passedMs) / limit.periodMs + 0.1);
        // Never so long that the bucket gets full.
        const stepMs = 20_000 + ((step * 7919) % 100_000);
        passedMs += stepMs;
        await bed.advance(stepMs);
      }
      taken += await take(100, limit);
      const due = 4 + (7 * passedMs) / limit.periodMs;
      expect(taken).toBeLessThanOrEqual(due + 0.1);
      expect(taken).toBeGreaterThan(due - 1.1);
    });

    it.runIf(kind.isShared)('shares tokens and pauses among processes', async () => {
      const other = await bed.open();
      expect(await take(2)).toBe(2);
      expect(await take(2, LIMIT, other)).toBe(1);
      await bed.advance(2 * MINUTE_MS);
      buckets.pause('a', 30_000, LIMIT);
      await bed.advance(100);
      const { taken, waitMs } = await other.take('a', 1, LIMIT);
      expect(taken).toBe(0);
      expect(waitMs).toBeGreaterThan(25_000);
      await bed.advance(waitMs);
      expect(await take(1, LIMIT, other)).toBe(1);
    });

    it.runIf(kind.isShared)('applies the lowest rate of the last seconds to all processes', async () => {
      const other = await bed.open();
      const slow = { amount: 1, periodMs: 100 * MINUTE_MS, burst: 3 };
      await take(3);
      await other.take('a', 1, slow);
      await bed.advance(2_000);
      const { waitMs } = await buckets.take('b', 1, LIMIT);
      expect(waitMs).toBe(0);
      await other.take('b', 1, slow);
      await bed.advance(50 * MINUTE_MS);
      expect((await other.take('a', 3, slow)).taken).toBe(0);
    });
  });
}
