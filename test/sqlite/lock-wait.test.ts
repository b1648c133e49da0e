import { BackpressureError } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { Patience } from '../../packages/sqlite/src/file/lock-patience.ts';

const LOCKED = new BackpressureError('ERR_WBP_SQLITE_LOCKED', 'It is locked.');

/** A lock that somebody else has until then, and a clock that only moves while somebody waits. */
class Bench {
  nowMs = 0;
  freeAtMs = Infinity;
  readonly slept: number[] = [];
  readonly patience: Patience;

  constructor(givenMs?: number) {
    this.patience = new Patience(givenMs, {
      now: () => this.nowMs,
      sleep: (ms) => {
        this.nowMs += ms;
        this.slept.push(ms);
      },
      random: () => 0.5,
    });
  }

  readonly begin = (): void => {
    if (this.nowMs < this.freeAtMs) throw LOCKED;
  };

  lock(): number {
    const before = this.nowMs;
    try {
      this.patience.lock(this.begin);
    } catch (error) {
      expect(error).toBe(LOCKED);
    }
    return this.nowMs - before;
  }
}

describe('the patience with a lock', () => {
  it('ends after the time that was given, and is short until the lock was got', () => {
    const bench = new Bench(100);
    expect(bench.lock()).toBeCloseTo(100, 0);
    expect(bench.lock()).toBeCloseTo(10, 0);
    bench.freeAtMs = bench.nowMs + 5;
    expect(bench.lock()).toBeCloseTo(5, 0);
    bench.freeAtMs = Infinity;
    expect(bench.lock()).toBeCloseTo(100, 0);
  });

  it('does not wait at all where 0 was given', () => {
    const bench = new Bench(0);
    expect(bench.lock()).toBe(0);
    expect(bench.slept).toEqual([]);
  });

  it('is measured by the commits of the file where nothing was given', () => {
    const bench = new Bench();
    const before = bench.patience.ms;
    bench.patience.committed(300, false);
    expect(bench.patience.ms).toBeGreaterThan(before);
    for (let at = 0; at < 1000; at += 1) bench.patience.committed(0.1, false);
    expect(bench.patience.ms).toBe(before);
  });

  it('looks more often than a commit takes, so that it does not miss the moment after one', () => {
    const bench = new Bench(1000);
    bench.patience.committed(8, false);
    bench.lock();
    expect(Math.max(...bench.slept)).toBeLessThanOrEqual(1);
  });

  it('leaves the lock to others after a commit while they use the file, and only then', () => {
    const bench = new Bench(1000);
    bench.freeAtMs = 0;
    bench.patience.committed(50, false);
    expect(bench.lock()).toBe(0);
    bench.patience.committed(50, true);
    expect(bench.lock()).toBeGreaterThan(0);
    bench.patience.committed(50, false);
    expect(bench.lock()).toBeGreaterThan(0);
    bench.nowMs += 1000;
    bench.patience.committed(50, false);
    expect(bench.lock()).toBe(0);
  });

  it('lets what is no lock through', () => {
    const bench = new Bench(1000);
    const broken = new Error('It is broken.');
    expect(() => {
      bench.patience.lock(() => {
        throw broken;
      });
    }).toThrow(broken);
    expect(bench.slept).toEqual([]);
  });
});
