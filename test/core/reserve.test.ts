import { describe, expect, it } from 'vitest';
import type { Admission, Delivery, RefusalReason } from '@webhook-backpressure/core';
import { createBench, letIn, occupy, type Bench } from './harness.ts';

// Marks at 80 and 50; a reserve of 20, half of it 10.
const CAPACITY = 100;
const HIGH = 80;
const LOW = 50;
const HALF = 10;

interface Shedding extends Bench {
  readonly waiting: Admission[];
}

/** An intake whose queue has just reached the high-water mark by deliveries of `key`. */
function shedding(key = 'burst', capacity = CAPACITY): Shedding {
  const bench = createBench({ capacity, concurrency: 1, maxWaitMs: 60_000, maxHandlingMs: 86_400_000 });
  occupy(bench.intake, key);
  const { highWater } = bench.intake.snapshot();
  const waiting = Array.from({ length: highWater }, () => letIn(bench.intake.admit({ key })));
  expect(bench.intake.snapshot().state).toBe('shedding');
  return { ...bench, waiting };
}

function answer({ intake }: Bench, delivery: Delivery): RefusalReason | 'admitted' {
  const result = intake.admit(delivery);
  return result.admitted ? 'admitted' : result.reason;
}

/** How many of `count` deliveries are let in. */
function flood(bench: Bench, count: number, delivery: (i: number) => Delivery): number {
  let admitted = 0;
  for (let i = 0; i < count; i += 1) if (answer(bench, delivery(i)) === 'admitted') admitted += 1;
  return admitted;
}

function leave({ waiting }: Shedding, count: number): void {
  for (const one of waiting.splice(0, count)) one.leave();
}

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

describe('the places of the reserve', () => {
  it('are free again when the queue has fallen, whoever is left in it', () => {
    const bench = shedding();
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    const other: Delivery = { key: 'other', priority: 'critical' };
    expect(answer(bench, other)).toBe('admitted');
    expect(flood(bench, 100, () => vip)).toBe(HALF);
    // What was there before leaves; those that came into the reserve still wait.
    leave(bench, 15);
    expect(bench.intake.snapshot()).toMatchObject({ depth: HIGH - 4, state: 'shedding' });
    expect(flood(bench, 100, () => vip)).toBe(4 + HALF);
    expect(answer(bench, other)).toBe('admitted');
  });

  it.each([
    [10, 8, 2, 1],
    [5, 4, 1, 1],
    [15, 12, 3, 1],
    [25, 20, 5, 2],
  ])(
    'of a capacity of %i are shared: high-water %i, reserve %i, half %i',
    (capacity, high, reserve, half) => {
      const bench = shedding('burst', capacity);
      expect(bench.intake.snapshot().highWater).toBe(high);
      const vip = (key: string): Delivery => ({ key, priority: 'critical' });
      let ones = flood(bench, 1, () => vip('one'));
      flood(bench, 1, () => vip('two'));
      ones += flood(bench, 50, () => vip('one'));
      expect(ones).toBe(half);
    },
  );

  it('are none when the high-water mark is the capacity', () => {
    const bench = createBench({ capacity: 10, concurrency: 1, highWaterMark: 1 });
    occupy(bench.intake);
    expect(flood(bench, 20, () => ({}))).toBe(10);
    expect(answer(bench, { priority: 'critical' })).toBe('full');
  });

  it('begin above the high-water mark, and not at it', () => {
    const bench = shedding();
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    leave(bench, 1);
    expect(answer(bench, vip)).toBe('admitted');
    expect(bench.intake.snapshot().depth).toBe(HIGH);
    expect(answer(bench, { key: 'other', priority: 'critical' })).toBe('admitted');
    expect(flood(bench, 50, () => vip)).toBe(HALF);
  });

  it('that small keys gave back are there for others, in this burst and in the next', () => {
    const bench = shedding();
    for (let round = 0; round < 3; round += 1) {
      const small: Admission[] = [];
      for (let i = 0; i < 40; i += 1) {
        const result = bench.intake.admit({ key: `small ${String(round)} ${String(i)}` });
        if (result.admitted) small.push(result);
      }
      expect(small).toHaveLength(HALF);
      for (const one of small) one.leave();
    }
  });

  it('that a key gave back are there for it again while it still waits below', () => {
    const bench = shedding('vip');
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    for (let round = 0; round < 3; round += 1) {
      expect(answer(bench, { key: 'other', priority: 'critical' })).toBe('admitted');
      const taken: Admission[] = [];
      for (let i = 0; i < 40; i += 1) {
        const result = bench.intake.admit(vip);
        if (result.admitted) taken.push(result);
      }
      expect(taken).toHaveLength(HALF);
      expect(answer(bench, vip)).toBe('full');
      for (const one of taken) one.leave();
      // As many leave below as one of the others has come.
      leave(bench, 1);
    }
  });

  it('are counted per delivery and given back however it leaves', async () => {
    const bench = createBench({ capacity: 10, concurrency: 1, maxWaitMs: 1000 });
    const [running] = occupy(bench.intake, 'burst');
    flood(bench, 8, () => ({ key: 'burst' }));
    const vips = ['a', 'b'].map((key) => letIn(bench.intake.admit({ key, priority: 'critical' })));
    expect(answer(bench, { key: 'c', priority: 'critical' })).toBe('full');
    vips[0]?.leave();
    expect(answer(bench, { key: 'c', priority: 'critical' })).toBe('admitted');
    running?.release();
    expect(answer(bench, { key: 'd', priority: 'critical' })).toBe('admitted');
    bench.clock.advance(1100);
    await vips[1]?.permit;
    expect(bench.intake.snapshot()).toMatchObject({ depth: 0, keys: 0, state: 'accepting' });
  });
});
