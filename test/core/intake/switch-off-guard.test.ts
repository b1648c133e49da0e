import type { SenderProfile } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, exponential, seeded } from '../harness.ts';
import { Seen, send, type WatchedSender } from '../refusals/watched-sender.ts';
import { runUntil } from '../workshop.ts';

function profileOf(name: string, inARow: number, changes: Partial<SenderProfile> = {}): SenderProfile {
  return {
    ...{ name, match: { header: `x-${name}` }, timeoutMs: 5000, retryAfter: 'ignored' },
    ...{ switchOff: { inARow }, source: 'none', verifiedAt: '2026-11-22' },
    ...changes,
  };
}

// Ten workers with 100 ms each, exponentially distributed: 100/s.
async function overload(senders: readonly WatchedSender[], seed: number, untilS: number): Promise<Seen[]> {
  const random = seeded(seed);
  const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
  const seen = senders.map((sender) => send(bench, sender, random, () => exponential(random, 100)));
  await runUntil(bench.clock, untilS * 1000);
  return seen;
}

describe('a sender that disables the endpoint after failures in a row', () => {
  const scheduleS = [60, 120, 240, 480, 960, 1920, 3840, 6780];

  it.each([1, 2, 3])(
    'gets a success before its limit of 8 at twice the drain rate, and loses nothing, seed %i',
    async (seed) => {
      const profile = profileOf('shop', 8, { retries: { scheduleS } });
      const [seen = new Seen()] = await overload([{ profile, perSecond: 200, toS: 60 }], seed, 8000);
      expect(seen.offS).toBeUndefined();
      expect(seen.longestRow).toBeLessThan(8);
      expect(seen.delivered).toBe(seen.events);
    },
  );

  it.each([1, 2, 3])(
    'gets a success before its limit of 6 at twice the drain rate, although it never retries, seed %i',
    async (seed) => {
      const profile = profileOf('site', 6, { retries: 'none', timeoutMs: 60_000 });
      const [seen = new Seen()] = await overload([{ profile, perSecond: 200, toS: 120 }], seed, 200);
      expect(seen.offS).toBeUndefined();
      expect(seen.longestRow).toBeLessThan(6);
    },
  );
});
