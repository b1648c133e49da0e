import { LocalBuckets } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { describeBuckets } from './buckets-suite.ts';

describeBuckets('LocalBuckets', { isShared: false, lateMs: 0 }, () => {
  const clock = manualClock();
  return Promise.resolve({
    open() {
      const buckets = new LocalBuckets();
      buckets.open({ clock });
      return Promise.resolve(buckets);
    },
    advance(ms) {
      clock.advance(ms);
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
});

describe('LocalBuckets', () => {
  it('names the time of the next token, also if it arrives after the pause', () => {
    const clock = manualClock();
    const buckets = new LocalBuckets();
    buckets.open({ clock });
    const limit = { amount: 1, periodMs: 1000, burst: 1 };
    buckets.take('a', 1, limit);
    buckets.pause('a', 100, limit);
    expect(buckets.take('a', 1, limit)).toEqual({ taken: 0, waitMs: 1000 });
    buckets.pause('a', 5000, limit);
    expect(buckets.take('a', 1, limit)).toEqual({ taken: 0, waitMs: 5000 });
  });

  it('needs memory only for endpoints with events, or whose bucket is not full yet', () => {
    const clock = manualClock();
    const buckets = new LocalBuckets();
    buckets.open({ clock });
    const limit = { amount: 1, periodMs: 1000, burst: 100 };
    for (let at = 0; at < 10_000; at += 1) {
      buckets.take(String(at), 1 + (at % 3), limit);
      buckets.forget(String(at));
    }
    expect(buckets.size).toBe(10_000);
    clock.advance(2_000);
    buckets.take('x', 1, limit);
    buckets.forget('x');
    expect(buckets.size).toBe(3_334);
    buckets.take('2', 1, limit);
    clock.advance(3_000);
    buckets.forget('y');
    expect(buckets.size).toBe(1);
  });
});
