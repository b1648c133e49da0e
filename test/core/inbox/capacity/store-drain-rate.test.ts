import { describe, expect, it } from 'vitest';
import { StoreDrainRate } from '../../../../packages/inbox/src/capacity/drain-rate.ts';

/** A store whose workers are looked at every half second. */
class Observed {
  readonly rate: StoreDrainRate = new StoreDrainRate();
  nowMs = 0;
  drained = 0;

  pass(seconds: number, perSecond: number, isBacklogged = true): void {
    for (let at = 0; at < seconds; at += 0.5) {
      this.nowMs += 500;
      this.drained += perSecond / 2;
      const drained = Math.floor(this.drained);
      this.rate.note({ nowMs: this.nowMs, drained, inFlight: 10, isBacklogged });
    }
  }
}

describe('the drain rate of a store', () => {
  it('is unknown until deliveries were due while others completed', () => {
    const store = new Observed();
    store.pass(60, 5, false);
    expect(store.rate.perSecond).toBeNull();
    store.pass(3, 100);
    expect(store.rate.perSecond).toBeCloseTo(100, 0);
  });

  it.each([
    [100, 50],
    [100, 200],
    [1000, 100],
    [20, 80],
  ])('follows a change from %d to %d per second to within 15 % in 5 s', (before, after) => {
    const store = new Observed();
    store.pass(120, before);
    store.pass(5, after);
    expect(store.rate.perSecond).toBeGreaterThan(after * 0.85);
    expect(store.rate.perSecond).toBeLessThan(after * 1.15);
  });

  it('ignores a count that has fallen, as after a restore from a backup', () => {
    const store = new Observed();
    store.pass(30, 100);
    store.drained -= 2000;
    store.pass(1, 100);
    expect(store.rate.perSecond).toBeCloseTo(100, 0);
  });

  it('does not fall to the arrivals of a quiet time', () => {
    const store = new Observed();
    store.pass(30, 100);
    store.pass(600, 3, false);
    expect(store.rate.perSecond).toBeCloseTo(100, 0);
  });

  it('rises when more completes than was possible, also without a backlog', () => {
    const store = new Observed();
    store.pass(30, 10);
    store.pass(5, 100, false);
    expect(store.rate.perSecond).toBeGreaterThan(65);
  });

  it('falls in a gap, stalls after 10 s, and returns to the rate before', () => {
    const store = new Observed();
    store.pass(60, 100);
    store.pass(6, 0);
    expect(store.rate.perSecond).toBeLessThan(1);
    expect(store.rate.isStalled).toBe(false);
    store.pass(6, 0);
    expect([store.rate.isStalled, store.rate.gapMs(store.nowMs)]).toEqual([true, 12_000]);
    store.pass(1, 100);
    expect(store.rate.isStalled).toBe(false);
    expect(store.rate.perSecond).toBeGreaterThan(50);
  });

  it('waits ten handling times for slow workers', () => {
    const store = new Observed();
    // Ten in flight at 0.5 per second: 20 s each.
    store.pass(120, 0.5);
    store.pass(60, 0);
    expect(store.rate.isStalled).toBe(false);
    store.pass(200, 0);
    expect(store.rate.isStalled).toBe(true);
  });

  it('begins again with a store that was restored from a backup', () => {
    const store = new Observed();
    store.pass(30, 100);
    store.drained = 0;
    store.pass(10, 100);
    expect(store.rate.perSecond).toBeCloseTo(100, 0);
  });
});
