import { describe, expect, it } from 'vitest';
import { limitOf, perSecondOf } from '../../../packages/sender/src/options/rates.ts';
import { RateShare } from '../../../packages/sender/src/pace/learning-pace.ts';

describe('the share of a rate', () => {
  it.each([2, 3.7, 10, 100, 128, 1000, 9999, 1_000_000])(
    'of %d/s is halved down to one request per second',
    (perSecond) => {
      const share = new RateShare(limitOf({ perSecond }));
      for (let expected = perSecond / 2; expected > 1; expected /= 2) {
        share.halve();
        expect(perSecondOf(share.limit) / expected).toBeCloseTo(1, 1);
      }
      share.halve();
      share.halve();
      expect(perSecondOf(share.limit)).toBeGreaterThanOrEqual(0.97);
      expect(perSecondOf(share.limit)).toBeLessThan(1.06);
      expect(Number.isSafeInteger(share.limit.amount)).toBe(true);
      expect(Number.isSafeInteger(share.limit.periodMs)).toBe(true);
      for (let step = 0; step < 10; step += 1) share.raise();
      expect(share.limit).toEqual(limitOf({ perSecond }));
    },
  );
});
