import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../packages/core/src/delivery/arrival.ts';
import { Promises } from '../../../packages/core/src/refusals/promises.ts';

function arrival(id: string, nowMs = 0, key = 'shop'): Arrival {
  return { delivery: { key, id }, key, nowMs };
}

describe('a promised retry', () => {
  it('belongs to one key', () => {
    const promises = new Promises();
    promises.refused(arrival('a'), { retryAfterSeconds: 5 });
    expect(promises.dueMs(arrival('a'))).toBe(5000);
    expect(promises.dueMs(arrival('a', 0, 'bank'))).toBeUndefined();
    promises.admitted(arrival('a', 5000, 'bank'));
    promises.refused(arrival('a', 5000, 'bank'), { retryAfterSeconds: 50 });
    expect(promises.dueMs(arrival('a'))).toBe(5000);
    expect(promises.counts).toEqual({ kept: 0, missed: 0 });
  });

  it('keeps its time if the retry is too early, and is promised again if it is on time', () => {
    const promises = new Promises();
    promises.refused(arrival('a'), { retryAfterSeconds: 5 });
    promises.refused(arrival('a', 3000), { retryAfterSeconds: 2 });
    expect([promises.dueMs(arrival('a')), promises.counts.missed]).toEqual([5000, 0]);
    promises.refused(arrival('a', 5000), { retryAfterSeconds: 7 });
    expect([promises.dueMs(arrival('a')), promises.counts.missed]).toEqual([12_000, 1]);
  });

  it('is remembered among 5000 later ones, and forgotten among 10,000', () => {
    const promises = new Promises();
    for (let i = 0; i < 20_000; i += 1) promises.refused(arrival(String(i)), { retryAfterSeconds: 5 });
    const known = Array.from({ length: 20_000 }, (_, i) => promises.dueMs(arrival(String(i)))).filter(
      Boolean,
    );
    expect(known.length).toBeGreaterThanOrEqual(5000);
    expect(known.length).toBeLessThanOrEqual(10_000);
    expect(promises.dueMs(arrival('15001'))).toBe(5000);
  });
});
