import { sizeQueue } from '@webhook-backpressure/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('sizeQueue', () => {
  it('returns the capacity that is drained within the budget: 2 s at 200/s is 400', () => {
    expect(sizeQueue({ latencyBudgetMs: 2000, drainRate: 200, bytesPerItem: 1024 })).toEqual({
      capacity: 400,
      memoryBytes: 409_600,
    });
  });

  it('rounds down, since one more would start too late, but never below one', () => {
    expect(sizeQueue({ latencyBudgetMs: 999, drainRate: 10, bytesPerItem: 0 }).capacity).toBe(9);
    expect(sizeQueue({ latencyBudgetMs: 1, drainRate: 0.5, bytesPerItem: 100 })).toEqual({
      capacity: 1,
      memoryBytes: 100,
    });
  });

  it('stays within the budget for any numbers', () => {
    const positive = fc.double({ min: 0.001, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(positive, positive, fc.nat(100_000), (latencyBudgetMs, drainRate, bytesPerItem) => {
        const { capacity, memoryBytes } = sizeQueue({ latencyBudgetMs, drainRate, bytesPerItem });
        expect(Number.isInteger(capacity) && capacity >= 1).toBe(true);
        const waitMs = (capacity / drainRate) * 1000;
        if (capacity > 1) expect(waitMs).toBeLessThanOrEqual(latencyBudgetMs * (1 + 1e-9));
        expect(((capacity + 1) / drainRate) * 1000).toBeGreaterThan(latencyBudgetMs * (1 - 1e-9));
        expect(memoryBytes).toBe(capacity * bytesPerItem);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  const good = { latencyBudgetMs: 1000, drainRate: 100, bytesPerItem: 100 };
  it.each([
    ['latencyBudgetMs', 0],
    ['latencyBudgetMs', Number.NaN],
    ['latencyBudgetMs', '1000'],
    ['drainRate', 0],
    ['drainRate', -1],
    ['drainRate', Infinity],
    ['drainRate', null],
    ['bytesPerItem', -1],
    ['bytesPerItem', undefined],
  ])('says that %s cannot be %s', (name, value) => {
    const options = { ...good, [name]: value };
    expect(() => sizeQueue(options)).toThrow(
      expect.objectContaining({
        code: 'ERR_WBP_SIZE_QUEUE',
        message: expect.stringContaining(name) as string,
      }),
    );
  });
});
