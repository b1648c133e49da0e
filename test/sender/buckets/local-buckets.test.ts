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
  it('uses the tokens that it has given, and shows those that are left', () => {
    const clock = manualClock();
    const buckets = new LocalBuckets();
    buckets.open({ clock });
    const limit = { amount: 1, periodMs: 1000, burst: 3 };
    expect(buckets.peek('a', limit)).toBe(3);
    expect(buckets.take('a', 3, limit).taken).toBe(3);
    expect(buckets.use('a', 2, limit)).toBe(2);
    expect(buckets.peek('a', limit)).toBe(0);
    clock.advance(1000);
    buckets.pause('a', 1000, limit);
    clock.advance(1000);
    expect(buckets.peek('a', limit)).toBe(2);
  });

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
    buckets.forget('2');
    expect(buckets.size).toBe(0);
  });

  it('forgets each endpoint, also while others are used', () => {
    const clock = manualClock();
    const buckets = new LocalBuckets();
    buckets.open({ clock });
    const limit = { amount: 1, periodMs: 1000, burst: 100 };
    for (const [name, count] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      buckets.take(name, count, limit);
      buckets.forget(name);
    }
    for (const count of [1, 1]) buckets.take('c', count, limit);
    clock.advance(2000);
    buckets.forget('c');
    expect(buckets.size).toBe(0);
  });
});
