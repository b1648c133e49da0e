import type { Delivery } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { answer, CAPACITY, flood, HALF, HIGH, leave, LOW, shedding, SMALL } from '../shedding.ts';

describe('the reserve, while shedding', () => {
  it('is closed to ordinary deliveries from the high-water mark down to the low-water mark', () => {
    const bench = shedding();
    expect(answer(bench, { key: 'burst' })).toBe('shedding');
    leave(bench, HIGH - LOW - 1);
    expect(answer(bench, { key: 'burst' })).toBe('shedding');
    leave(bench, 1);
    expect(bench.intake.snapshot()).toMatchObject({ state: 'accepting', depth: LOW });
    expect(answer(bench, { key: 'burst' })).toBe('admitted');
  });

  it.each<[string, Delivery]>([
    ['critical', { key: 'burst', priority: 'critical' }],
    ['from a sender that never retries', { key: 'burst', retries: false }],
    ['both', { key: 'burst', retries: false, priority: 'critical' }],
  ])('is open up to the effective capacity to a delivery that is %s', (_, delivery) => {
    const bench = shedding();
    expect(flood(bench, 50, () => delivery)).toBe(CAPACITY - HIGH);
    expect(answer(bench, delivery)).toBe('full');
    expect(answer(bench, { key: 'burst' })).toBe('full');
    expect(bench.intake.snapshot().depth).toBe(CAPACITY);
  });

  it.each<[string, Delivery]>([
    ['normal', { priority: 'normal' }],
    ['from a sender that retries', { retries: true }],
  ])('is closed to a delivery that is %s', (_, delivery) => {
    expect(answer(shedding('default'), delivery)).toBe('shedding');
  });

  it('is open to a key that stays below half of an equal share of the low-water mark', () => {
    // Two keys are queued: below 50 ÷ 2 ÷ 2 = 12.5, so 12 including the new one.
    const bench = shedding();
    expect(flood(bench, 30, () => ({ key: 'small' }))).toBe(12);
    leave(bench, 20);
    expect(bench.intake.snapshot()).toMatchObject({ state: 'shedding', depth: HIGH - 8 });
    expect(answer(bench, { key: 'small' })).toBe('shedding');
  });

  it('is open to less of each key the more keys are queued', () => {
    const bench = shedding();
    leave(bench, 20);
    // The n-th of the new keys may queue one delivery while 1 < 50 ÷ (n + 1) ÷ 2: 23 keys.
    expect(flood(bench, 200, (i) => ({ key: `invented ${String(i)}` }))).toBe(23);
    expect(bench.intake.snapshot()).toMatchObject({ depth: HIGH - 20 + 23, keys: 24, state: 'shedding' });
  });

  it('leaves a quarter of its places when keys are invented', () => {
    const bench = shedding();
    expect(flood(bench, 5000, (i) => ({ key: `invented ${String(i)}` }))).toBe(SMALL);
    expect(answer(bench, { key: 'another' })).toBe('shedding');
    expect(flood(bench, 50, () => ({ key: 'vip', priority: 'critical' }))).toBe(CAPACITY - HIGH - SMALL);
    expect(answer(bench, { key: 'vip', priority: 'critical' })).toBe('full');
  });
});

describe('a flood of forged deliveries', () => {
  it('of one key leaves half of the reserve to other keys that ask', () => {
    const bench = shedding();
    const forged: Delivery = { key: 'forger', priority: 'critical' };
    // Until another key asks, the reserve may be used up.
    expect(answer(bench, { key: 'honest', priority: 'critical' })).toBe('admitted');
    expect(flood(bench, 1000, () => forged)).toBe(HALF);
    expect(answer(bench, forged)).toBe('full');
    expect(flood(bench, 1000, () => ({ key: 'honest', priority: 'critical' }))).toBe(HALF - 1);
    expect(bench.intake.snapshot().depth).toBe(CAPACITY);
  });

  it('that filled the reserve alone gives it up as places become free', () => {
    const bench = shedding();
    const forged: Delivery = { key: 'forger', priority: 'critical' };
    const honest: Delivery = { key: 'honest', priority: 'critical' };
    expect(flood(bench, 1000, () => forged)).toBe(CAPACITY - HIGH);
    expect(answer(bench, honest)).toBe('full');
    for (let i = 0; i < HALF; i += 1) {
      leave(bench, 1);
      expect(answer(bench, forged)).toBe('full');
      expect(answer(bench, honest)).toBe('admitted');
    }
  });

  it('does not keep a small key out', () => {
    const bench = shedding();
    const forged: Delivery = { key: 'forger', priority: 'critical' };
    flood(bench, 1000, () => forged);
    expect(answer(bench, { key: 'small' })).toBe('full');
    // The last quarter is for entitled deliveries.
    leave(bench, CAPACITY - HIGH - SMALL);
    let admitted = 0;
    for (let i = 0; i < 10; i += 1) {
      leave(bench, 1);
      flood(bench, 20, () => forged);
      if (answer(bench, { key: 'small' }) === 'admitted') admitted += 1;
    }
    // Three keys are queued, so below 50 ÷ 3 ÷ 2.
    expect(admitted).toBe(8);
  });

  it('may use the whole reserve again if no other key has asked for the longest wait', () => {
    const bench = shedding();
    const forged: Delivery = { key: 'forger', priority: 'critical' };
    expect(answer(bench, { key: 'honest', priority: 'critical' })).toBe('admitted');
    expect(flood(bench, 100, () => forged)).toBe(HALF);
    bench.intake.update({ maxWaitMs: 5000 });
    bench.clock.advance(5000);
    expect(answer(bench, forged)).toBe('full');
    bench.clock.advance(50);
    expect(flood(bench, 100, () => forged)).toBe(CAPACITY - HIGH - HALF - 1);
  });

  it('of several keys never exceeds the capacity, and each has at most half while others ask', () => {
    const bench = shedding();
    const seen = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const key = `forger ${String(i % 5)}`;
      if (answer(bench, { key, retries: false }) === 'admitted') seen.set(key, (seen.get(key) ?? 0) + 1);
      if (i % 60 === 0 && bench.intake.snapshot().depth > HIGH) leave(bench, 1);
    }
    expect(bench.intake.snapshot().depth).toBeLessThanOrEqual(CAPACITY);
    // The first key was alone at first, and the others may have filled the places that it gave up.
    expect(seen.size).toBe(5);
  });

  it('keeps the gate closed until the queue is back at the low-water mark', () => {
    const bench = shedding();
    flood(bench, 500, (i) => ({ key: `forger ${String(i % 7)}`, priority: 'critical' }));
    leave(bench, HIGH);
    expect(bench.intake.snapshot()).toMatchObject({ state: 'accepting', depth: CAPACITY - HIGH });
    expect(answer(bench, { key: 'burst' })).toBe('admitted');
  });
});
