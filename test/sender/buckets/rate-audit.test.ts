import { describe, expect, it } from 'vitest';
import { RateAuditor } from '../../../packages/sender/src/buckets/rate-audit.ts';
import { LocalBuckets } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';

const LIMIT = { amount: 10, periodMs: 1000, burst: 5 };

function startAll(auditor: RateAuditor, times: readonly number[]): void {
  for (const at of times) auditor.started(LIMIT, 1, at);
}

describe('RateAuditor', () => {
  it('confirms a limit that was kept to the token', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [0, 0, 0, 0, 0, 100, 200, 300, 400, 900, 900, 900, 900, 900]);
    expect(auditor.report()).toEqual({ mostInASecond: 14, allowedInASecond: 15, excess: 0, mostInFlight: 1 });
  });

  it('counts each start beyond burst + rate × time', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [0, 0, 0, 0, 0, 0, 99, 100]);
    expect(auditor.report().excess).toBe(2);
  });

  it('finds the busiest second wherever it begins', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [60, 700, 800, 900, 1000, 1650, 1690, 1760, 5000]);
    expect(auditor.report().mostInASecond).toBe(6);
    startAll(auditor, [3, 4]);
    expect(auditor.report().mostInASecond).toBe(6);
  });

  it('counts anew after its clock was set back', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [5000, 5010, 5020, 3, 4]);
    expect(auditor.report().mostInASecond).toBe(3);
  });

  it('finds it in a steady flow of seconds', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    const steady = Array.from({ length: 55 }, (_, n) => n * 100);
    startAll(auditor, steady);
    expect(auditor.report().mostInASecond).toBe(10);
    startAll(auditor, new Array<number>(15).fill(5450));
    expect(auditor.report().mostInASecond).toBe(25);
  });

  it('remembers the most requests in flight', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    for (const inFlight of [1, 4, 2]) auditor.started(LIMIT, inFlight, 0);
    expect(auditor.report().mostInFlight).toBe(4);
  });

  it('allows as many starts as the highest limits', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [0, 0, 0, 0, 0]);
    for (let start = 0; start < 20; start += 1) auditor.started({ ...LIMIT, burst: 20 }, 1, 0);
    expect(auditor.report()).toMatchObject({ excess: 0, allowedInASecond: 30 });
    auditor.started({ ...LIMIT, amount: 1 }, 1, 100);
    auditor.started({ ...LIMIT, amount: 1 }, 1, 101);
    expect(auditor.report()).toMatchObject({ excess: 1, allowedInASecond: 30 });
  });

  it('allows as many starts as the highest rate', () => {
    const auditor = new RateAuditor(LIMIT, 0);
    startAll(auditor, [0, 0, 0, 0, 0]);
    const faster = { ...LIMIT, amount: 20 };
    for (const at of [50, 100, 150]) auditor.started(faster, 1, at);
    startAll(auditor, [200, 201, 202, 203, 204]);
    expect(auditor.report()).toMatchObject({ excess: 0, allowedInASecond: 25 });
  });

  it('finds no excess behind a bucket, and finds it when a token is used twice', () => {
    const clock = manualClock();
    const buckets = new LocalBuckets();
    buckets.open({ clock });
    const auditor = new RateAuditor(LIMIT, 0);
    for (let step = 0; step < 10_000; step += 1) {
      clock.advance((step * 7919) % 257);
      const { taken } = buckets.take('a', step % 9, LIMIT) as { taken: number };
      for (let start = 0; start < taken; start += 1) auditor.started(LIMIT, 1, clock.now());
    }
    expect(auditor.report().excess).toBe(0);
    const { taken } = buckets.take('a', 5, LIMIT) as { taken: number };
    for (let start = 0; start <= taken; start += 1) auditor.started(LIMIT, 1, clock.now());
    expect(auditor.report().excess).toBe(1);
  });
});
