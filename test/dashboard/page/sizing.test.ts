import { sizeQueue } from '@webhook-backpressure/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sizing } from '../../../packages/dashboard/page/data/sizing.ts';

const base = { waitSeconds: 2, drainRate: 200, bytesPerDelivery: 1024, burstRate: 1000, burstSeconds: 5 };

describe('what if', () => {
  it('fills a queue of 400 in half a second with a burst of 1,000 per second', () => {
    expect(sizing(base)).toEqual({
      capacity: 400,
      memoryBytes: 409_600,
      fullAfterSeconds: 0.5,
      refused: 3600,
      drainedAfterSeconds: 2,
    });
  });

  it('refuses nothing of a burst that fits', () => {
    const fitting = sizing({ ...base, burstRate: 220, burstSeconds: 10 });
    expect(fitting).toMatchObject({ fullAfterSeconds: null, refused: 0, drainedAfterSeconds: 1 });
    expect(sizing({ ...base, burstRate: 0 })).toMatchObject({ refused: 0, drainedAfterSeconds: 0 });
  });

  it('has no answer without a wait and a rate above 0', () => {
    for (const wrong of [
      { waitSeconds: 0 },
      { drainRate: NaN },
      { drainRate: -1 },
      { burstRate: -1 },
      { bytesPerDelivery: NaN },
    ]) {
      expect(sizing({ ...base, ...wrong })).toBeUndefined();
    }
  });

  it('agrees with sizeQueue', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 86_400_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        (latencyBudgetMs, tenths) => {
          const drainRate = tenths / 10;
          const { capacity } = sizeQueue({ latencyBudgetMs, drainRate, bytesPerItem: 1024 });
          const ours = sizing({ ...base, waitSeconds: latencyBudgetMs / 1000, drainRate })?.capacity ?? 0;
          expect(ours).toBe(capacity);
        },
      ),
    );
  });
});
