import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PercentileWindow } from '../../../packages/core/src/base/percentile-window.ts';
import { exponential, seeded } from '../harness.ts';

function windowOf(durations: readonly number[]): PercentileWindow {
  const window = new PercentileWindow();
  for (const ms of durations) window.add(ms);
  return window;
}

describe('the percentile window', () => {
  it('is right within 2 %, for any durations and any fraction', () => {
    const durations = fc.array(fc.double({ min: 0.01, max: 86_000_000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(durations, fc.double({ min: 0.001, max: 1, noNaN: true }), (values, fraction) => {
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(fraction * values.length) - 1] ?? 0;
        const read = windowOf(values).percentile(fraction);
        expect(read / exact).toBeGreaterThanOrEqual(1 / 1.0201);
        expect(read / exact).toBeLessThanOrEqual(1.0201);
      }),
    );
  });

  it('counts durations out of its range in its outermost buckets', () => {
    const window = windowOf([0, -1, Number.NaN, 1e300, Infinity]);
    expect(window.count).toBe(5);
    expect(window.percentile(0.5)).toBeLessThanOrEqual(0.0103);
    expect(window.percentile(1)).toBeGreaterThanOrEqual(86_000_000);
  });

  it('is empty after it was cleared', () => {
    const window = windowOf([5, 7, 50_000]);
    window.clear();
    expect(window.count).toBe(0);
    expect(window.percentile(0.9)).toBeNaN();
    window.add(3);
    expect(window.percentile(0.9)).toBeCloseTo(3, 0);
  });

  it('knows the error of its percentile', () => {
    const random = seeded(1);
    const COUNT = 400;
    const reads = Array.from({ length: 200 }, () => {
      const window = windowOf(Array.from({ length: COUNT }, () => exponential(random, 100)));
      return { ms: window.percentile(0.9), error: window.spread(0.9) / Math.sqrt(COUNT) };
    });
    const mean = reads.reduce((sum, { ms }) => sum + ms, 0) / reads.length;
    const scatter = Math.sqrt(reads.reduce((sum, { ms }) => sum + (ms / mean - 1) ** 2, 0) / reads.length);
    const said = reads.reduce((sum, { error }) => sum + error, 0) / reads.length;
    expect(mean).toBeCloseTo(100 * Math.log(10), -1);
    expect(said / scatter).toBeGreaterThanOrEqual(0.8);
    expect(said / scatter).toBeLessThanOrEqual(1.25);
  });

  it('reports almost no scatter for equal durations', () => {
    const window = windowOf(Array.from({ length: 100 }, () => 40));
    expect(window.spread(0.9)).toBeLessThanOrEqual(0.02);
  });
});
