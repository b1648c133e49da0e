import type { Delivery } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { answer, CAPACITY, flood, HALF, HIGH, leave, LOW, shedding } from '../shedding.ts';

describe('while shedding', () => {
  it('an ordinary delivery is refused from the high-water mark down to the low-water mark', () => {
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
  ])('a delivery that is %s is let in up to the effective capacity', (_, delivery) => {
    const bench = shedding();
    expect(flood(bench, 50, () => delivery)).toBe(CAPACITY - HIGH);
    expect(answer(bench, delivery)).toBe('full');
    expect(answer(bench, { key: 'burst' })).toBe('full');
    expect(bench.intake.snapshot().depth).toBe(CAPACITY);
  });

  it.each<[string, Delivery]>([
    ['normal', { priority: 'normal' }],
    ['from a sender that retries', { retries: true }],
  ])('a delivery that is %s is not', (_, delivery) => {
    expect(answer(shedding('default'), delivery)).toBe('shedding');
  });

  it('a key is small while it stays below half of an equal share of the low-water mark', () => {
    // Two keys wait: below 50 ÷ 2 ÷ 2 = 12.5, so 12 with the one that comes; but half of the reserve is 10.
    const bench = shedding();
    expect(flood(bench, 30, () => ({ key: 'small' }))).toBe(HALF);
    leave(bench, 20);
    // Below the high-water mark the reserve is not needed, and the share alone decides.
    expect(bench.intake.snapshot()).toMatchObject({ state: 'shedding', depth: HIGH - 10 });
    expect(flood(bench, 30, () => ({ key: 'small' }))).toBe(2);
    expect(answer(bench, { key: 'small' })).toBe('shedding');
  });

  it('the share shrinks with every key that waits', () => {
    const bench = shedding();
    leave(bench, 20);
    // The n-th of the new keys may have one waiting as long as 1 < 50 ÷ (n + 1) ÷ 2: 23 keys.
    expect(flood(bench, 200, (i) => ({ key: `invented ${String(i)}` }))).toBe(23);
    expect(bench.intake.snapshot()).toMatchObject({ depth: HIGH - 20 + 23, keys: 24, state: 'shedding' });
  });

  it('invented keys get half of the reserve and no more, and the other half is left', () => {
    const bench = shedding();
    expect(flood(bench, 5000, (i) => ({ key: `invented ${String(i)}` }))).toBe(HALF);
    expect(answer(bench, { key: 'another' })).toBe('shedding');
    expect(flood(bench, 50, () => ({ key: 'vip', priority: 'critical' }))).toBe(HALF);
    expect(answer(bench, { key: 'vip', priority: 'critical' })).toBe('full');
  });
});

describe('a flood of forged deliveries', () => {
  it('of one key leaves half of the reserve to whoever asks', () => {
    const bench = shedding();
    const forged: Delivery = { key: 'forger', retries: false };
    // Before anybody else asks the reserve may be used up.
    expect(answer(bench, { key: 'honest', priority: 'critical' })).toBe('admitted');
    expect(flood(bench, 1000, () => forged)).toBe(HALF);
    expect(answer(bench, forged)).toBe('full');
    expect(flood(bench, 1000, () => ({ key: 'honest', priority: 'critical' }))).toBe(HALF - 1);
    expect(bench.intake.snapshot().depth).toBe(CAPACITY);
  });

  it('that filled the reserve alone gives it up as places come free', () => {
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
    let admitted = 0;
    for (let i = 0; i < 10; i += 1) {
      leave(bench, 1);
      flood(bench, 20, () => forged);
      if (answer(bench, { key: 'small' }) === 'admitted') admitted += 1;
    }
    // Three keys wait, so below 50 ÷ 3 ÷ 2.
    expect(admitted).toBe(8);
  });

  it('may use the whole reserve again once nobody else has asked for as long as a delivery waits', () => {
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

  it('of several keys never passes the capacity, and each has half at the most while others ask', () => {
    const bench = shedding();
    const seen = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const key = `forger ${String(i % 5)}`;
      if (answer(bench, { key, retries: false }) === 'admitted') seen.set(key, (seen.get(key) ?? 0) + 1);
      if (i % 60 === 0 && bench.intake.snapshot().depth > HIGH) leave(bench, 1);
    }
    expect(bench.intake.snapshot().depth).toBeLessThanOrEqual(CAPACITY);
    // The first of them was alone when it came, and the others may have refilled what it gave up.
    expect(seen.size).toBe(5);
  });

  it('ends with the flood: the gate opens when the queue is back at the low-water mark', () => {
    const bench = shedding();
    flood(bench, 500, (i) => ({ key: `forger ${String(i % 7)}`, priority: 'critical' }));
    leave(bench, HIGH);
    expect(bench.intake.snapshot()).toMatchObject({ state: 'accepting', depth: CAPACITY - HIGH });
    expect(answer(bench, { key: 'burst' })).toBe('admitted');
  });
});
