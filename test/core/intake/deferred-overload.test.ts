import type { Delivery } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, exponential, reactions, seeded } from '../harness.ts';
import { profileOf, Seen, send, type WatchedSender } from '../refusals/watched-sender.ts';
import { runUntil, Workshop } from '../workshop.ts';

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

  it.each([
    [130, 1],
    [130, 2],
    [200, 1],
    [200, 2],
    [500, 1],
    [500, 2],
  ])(
    'gets a success before its limit of 8 with %i/s for a drain rate of 100/s, and loses nothing, seed %i',
    async (perSecond, seed) => {
      const profile = profileOf('shop', 8, { retries: { scheduleS } });
      const [seen = new Seen()] = await overload([{ profile, perSecond, toS: 30 }], seed, 8000);
      expect(seen.offS).toBeUndefined();
      expect(seen.longestRow).toBeLessThan(8);
      expect(seen.delivered).toBe(seen.events);
    },
  );

  it.each([1, 2])(
    'gets a success before its limit of 6 at twice the drain rate, although it never retries, seed %i',
    async (seed) => {
      const profile = profileOf('site', 6, { retries: 'none', timeoutMs: 60_000 });
      const [seen = new Seen()] = await overload([{ profile, perSecond: 200, toS: 40 }], seed, 80);
      expect(seen.offS).toBeUndefined();
      expect(seen.longestRow).toBeLessThan(6);
    },
  );
});

describe('a sender that disables the endpoint after a share of failures', () => {
  const slack = profileOf('slack', 8, { switchOff: { ratio: 0.95, windowS: 3600 } });

  it('gets no place above the effective capacity, and leaves the reserve to retries on time', async () => {
    const bench = createBench({
      capacity: 1000,
      maxWaitMs: 2000,
      random: seeded(1),
      retryAfter: { strategy: 'booked' },
    });
    const { intake, clock } = bench;
    const workshop = new Workshop(bench, () => 100);
    const refusals = new Map<string, number>();
    const bring = (delivery: Delivery & { readonly id: string }): void => {
      const refusal = workshop.bring(delivery);
      if (refusal === undefined) return;
      const { key = '', id } = delivery;
      refusals.set(key, (refusals.get(key) ?? 0) + 1);
      if (key === 'slack') return;
      clock.setTimeout(() => {
        bring({ key, id });
      }, refusal.retryAfterSeconds * 1000);
    };
    let above = 0;
    for (let ms = 0; ms < 8000; ms += 10) {
      for (let i = 0; i < 20; i += 1) bring({ key: 'slack', id: '', profile: slack, maxWaitMs: 2400 });
      if (ms % 50 === 0) bring({ key: 'small', id: `e${String(ms)}` });
      const { depth, effectiveCapacity } = intake.snapshot();
      if (depth > effectiveCapacity) above += 1;
      clock.advance(10);
      await reactions();
    }
    expect(refusals.get('slack')).toBeGreaterThan(10_000);
    // The effective capacity falls with the drain rate while places are held.
    expect(above).toBeLessThan(50);
    expect(refusals.get('small') ?? 0).toBeLessThan(30);
  });
});
