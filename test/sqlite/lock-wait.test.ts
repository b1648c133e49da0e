import { BackpressureError } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import { LockWait } from '../../packages/sqlite/src/connection/lock-wait.ts';

const LOCKED = new BackpressureError('ERR_WBP_SQLITE_LOCKED', 'It is locked.');

/** A lock that another process holds until `freeAtMs`, and a clock that only moves during waits. */
class Bench {
  nowMs = 0;
  freeAtMs = Infinity;
  readonly slept: number[] = [];
  readonly lockWait: LockWait;

  constructor(givenMs?: number) {
    this.lockWait = new LockWait(givenMs, {
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

  acquire(): number {
    const before = this.nowMs;
    try {
      this.lockWait.acquire(this.begin);
    } catch (error) {
      expect(error).toBe(LOCKED);
    }
    return this.nowMs - before;
  }
}

describe('the wait for a lock', () => {
  it('ends after the given time, and is shorter until the lock is acquired', () => {
    const bench = new Bench(100);
    expect(bench.acquire()).toBeCloseTo(100, 0);
    expect(bench.acquire()).toBeCloseTo(10, 0);
    bench.freeAtMs = bench.nowMs + 5;
    expect(bench.acquire()).toBeCloseTo(5, 0);
    bench.freeAtMs = Infinity;
    expect(bench.acquire()).toBeCloseTo(100, 0);
  });

  it('does not wait with 0', () => {
    const bench = new Bench(0);
    expect(bench.acquire()).toBe(0);
    expect(bench.slept).toEqual([]);
  });

  it('follows the commit time by default', () => {
    const bench = new Bench();
    const before = bench.lockWait.ms;
    bench.lockWait.committed(300, false);
    expect(bench.lockWait.ms).toBeGreaterThan(before);
    for (let at = 0; at < 1000; at += 1) bench.lockWait.committed(0.1, false);
    expect(bench.lockWait.ms).toBe(before);
  });

  it('polls several times per commit, so that it does not miss a gap', () => {
    const bench = new Bench(1000);
    bench.lockWait.committed(8, false);
    bench.acquire();
    expect(Math.max(...bench.slept)).toBeLessThanOrEqual(1);
  });

  it('yields the lock after a commit only while others use the file', () => {
    const bench = new Bench(1000);
    bench.freeAtMs = 0;
    bench.lockWait.committed(50, false);
    expect(bench.acquire()).toBe(0);
    bench.lockWait.committed(50, true);
    expect(bench.acquire()).toBeGreaterThan(0);
    bench.lockWait.committed(50, false);
    expect(bench.acquire()).toBeGreaterThan(0);
    bench.nowMs += 1000;
    bench.lockWait.committed(50, false);
    expect(bench.acquire()).toBe(0);
  });

  it('passes other errors on', () => {
    const bench = new Bench(1000);
    const broken = new Error('It is broken.');
    expect(() => {
      bench.lockWait.acquire(() => {
        throw broken;
      });
    }).toThrow(broken);
    expect(bench.slept).toEqual([]);
  });
});
