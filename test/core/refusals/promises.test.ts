import { describe, expect, it } from 'vitest';
import type { Arrival } from '@webhook-backpressure/core/extend';
import { Promises } from '../../../packages/core/src/refusals/promises.ts';

function arrival(id: string, nowMs = 0, key = 'shop'): Arrival {
  return { delivery: { key, id }, key, nowMs };
}

describe('a promised retry', () => {
  it('belongs to one key', () => {
    const promises = new Promises();
    promises.add(arrival('a'), 5000);
    expect(promises.dueMs(arrival('a', 0, 'bank'))).toBeUndefined();
    promises.admitted(arrival('a', 5000, 'bank'));
    promises.missed(arrival('a', 5000, 'bank'));
    promises.add(arrival('a', 5000, 'bank'), 50_000);
    expect([promises.dueMs(arrival('a')), promises.counts]).toEqual([5000, { kept: 0, missed: 0 }]);
  });

  it('differs for other keys and ids, also where their texts together are the same', () => {
    const promises = new Promises();
    promises.add(arrival('pa', 0, 'sho'), 5000);
    for (const [id, key] of [
      ['a', 'shop'],
      ['hopa', 's'],
      ['sho', 'pa'],
    ] as const)
      expect(promises.dueMs(arrival(id, 0, key))).toBeUndefined();
  });

  it('counts once, and only on time', () => {
    const promises = new Promises();
    promises.add(arrival('a'), 5000);
    for (const nowMs of [3999, 65_001]) promises.missed(arrival('a', nowMs));
    expect(promises.counts.missed).toBe(0);
    for (const nowMs of [4000, 65_000]) promises.missed(arrival('a', nowMs));
    promises.admitted(arrival('a', 5000));
    expect(promises.counts).toEqual({ kept: 0, missed: 1 });
    expect(promises.dueMs(arrival('a'))).toBeUndefined();
  });

  it('may use the reserve on time, until it is admitted', () => {
    const promises = new Promises();
    const entitled = (): readonly boolean[] =>
      [3999, 4000, 65_000, 65_001].map((nowMs) => promises.entitles(arrival('a', nowMs)));
    promises.add(arrival('a'), 5000);
    expect(entitled()).toEqual([false, true, true, false]);
    promises.admitted(arrival('b', 5000));
    promises.admitted(arrival('a', 5000));
    expect([entitled(), promises.counts]).toEqual([[false, false, false, false], { kept: 1, missed: 0 }]);
  });

  it('is none without an id', () => {
    const promises = new Promises();
    const without: Arrival = { delivery: { key: 'shop' }, key: 'shop', nowMs: 5000 };
    promises.add(without, 5000);
    promises.admitted(without);
    promises.missed(without);
    expect([promises.dueMs(without), promises.entitles(without)]).toEqual([undefined, false]);
    expect(promises.counts).toEqual({ kept: 0, missed: 0 });
  });

  it('is remembered among 5000 later ones, and forgotten among 10,000', () => {
    const promises = new Promises();
    for (let i = 0; i < 20_000; i += 1) promises.add(arrival(String(i)), 5000);
    const known = Array.from({ length: 20_000 }, (_, i) => promises.dueMs(arrival(String(i)))).filter(
      Boolean,
    );
    expect(known.length).toBeGreaterThanOrEqual(5000);
    expect(known.length).toBeLessThanOrEqual(10_000);
    expect(promises.dueMs(arrival('15001'))).toBe(5000);
  });
});
