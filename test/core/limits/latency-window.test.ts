import { describe, expect, it } from 'vitest';
import { LatencyWindow } from '../../../packages/core/src/limits/latency-window.ts';

/** Notes 100 completions per second. */
function fill(
  window: LatencyWindow,
  fromS: number,
  toS: number,
  completion: (i: number) => { tookMs: number; isFailure?: boolean; active?: number },
): void {
  for (let i = fromS * 100; i < toS * 100; i += 1) {
    const { tookMs, isFailure = false, active = 1 } = completion(i);
    window.note(i * 10, tookMs, isFailure, active);
  }
}

describe('the latency window', () => {
  it('reads the 90th percentile of successes only, and the mean number in service', () => {
    const window = new LatencyWindow();
    // Including the failures, 11 in 100 would be slow.
    fill(window, 0, 10, (i) => ({
      tookMs: i % 100 < 11 ? 1000 : 10,
      isFailure: i % 100 < 4,
      active: i % 2 === 0 ? 4 : 8,
    }));
    const { ms, active } = window.read();
    expect(ms).toBeGreaterThanOrEqual(9.8);
    expect(ms).toBeLessThanOrEqual(10.2);
    expect(active).toBe(6);
    expect(window.isFailing).toBe(false);
  });

  it('is long enough after a second, and due after every 50 completions', () => {
    const window = new LatencyWindow();
    expect(window.note(5000, 10, false, 1)).toBe(false);
    expect(window.note(5999, 10, false, 1)).toBe(false);
    expect(window.note(6000, 10, false, 1)).toBe(true);
    expect(window.ageMs(6000)).toBe(1000);
    const dueAt: number[] = [];
    for (let count = 4; count <= 150; count += 1) {
      window.note(6000, 10, false, 1);
      if (!window.isDue) continue;
      dueAt.push(count);
      window.postpone();
    }
    expect(dueAt).toEqual([50, 100, 150]);
  });

  it('fails from the third failure in the first 50, then above 1 in 20', () => {
    const window = new LatencyWindow();
    const failing = Array.from({ length: 3 }, () => {
      window.note(0, 10, true, 1);
      return window.isFailing;
    });
    expect(failing).toEqual([false, false, true]);
    fill(window, 0, 0.5, () => ({ tookMs: 10 }));
    expect(window.isFailing).toBe(true);
    fill(window, 0.5, 0.7, () => ({ tookMs: 10 }));
    expect(window.isFailing).toBe(false);
  });

  it('ignores completions before it reopens', () => {
    const window = new LatencyWindow();
    fill(window, 0, 2, () => ({ tookMs: 500, isFailure: true }));
    window.reopen(4000);
    fill(window, 2, 4, () => ({ tookMs: 500, active: 9 }));
    fill(window, 4, 6, () => ({ tookMs: 10 }));
    expect(window.read()).toMatchObject({ active: 1 });
    expect(window.read().ms).toBeLessThanOrEqual(10.2);
    expect(window.isFailing).toBe(false);
  });

  it('does not become precise when times happen to scatter little', () => {
    const window = new LatencyWindow();
    fill(window, 0, 10, (i) => ({ tookMs: 10 + ((i * 37) % 100) }));
    const { error } = window.read();
    window.reopen(10_000);
    fill(window, 10, 20, () => ({ tookMs: 100 }));
    expect(window.read().error).toBeCloseTo(error);
    window.reopen(20_000);
    fill(window, 20, 30, () => ({ tookMs: 100 }));
    expect(window.read().error / error).toBeGreaterThanOrEqual(0.7);
    expect(window.read().error / error).toBeLessThanOrEqual(0.8);
  });
});
