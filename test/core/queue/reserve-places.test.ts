import type { Admission, Delivery, Permit } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, letIn, occupy, reactions } from '../harness.ts';
import { answer, CAPACITY, flood, HALF, HIGH, leave, QUARTER, shedding, SMALL } from '../shedding.ts';

describe('the places of the reserve', () => {
  it('are free again when the queue is short, whichever deliveries are left', () => {
    const bench = shedding();
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    const other: Delivery = { key: 'other', priority: 'critical' };
    expect(answer(bench, other)).toBe('admitted');
    expect(flood(bench, 100, () => vip)).toBe(HALF);
    // The earlier deliveries leave; those in the reserve are still queued.
    leave(bench, 15);
    expect(bench.intake.snapshot()).toMatchObject({ depth: HIGH - 4, state: 'shedding' });
    expect(flood(bench, 100, () => vip)).toBe(4 + QUARTER);
    expect(answer(bench, other)).toBe('admitted');
  });

  it.each([
    [10, 8, 2, 1],
    [5, 4, 1, 1],
    [15, 12, 3, 2],
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

  it('do not exist if the high-water mark is the capacity', () => {
    const bench = createBench({ capacity: 10, concurrency: 1, highWaterMark: 1 });
    occupy(bench.intake);
    expect(flood(bench, 20, () => ({}))).toBe(10);
    expect(answer(bench, { priority: 'critical' })).toBe('full');
  });

  it('are refused to a key that holds half as many anywhere in the queue', () => {
    const bench = shedding();
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    leave(bench, 1);
    expect(answer(bench, vip)).toBe('admitted');
    expect(bench.intake.snapshot().depth).toBe(HIGH);
    expect(answer(bench, { key: 'other', priority: 'critical' })).toBe('admitted');
    expect(flood(bench, 50, () => vip)).toBe(HALF - 1);
  });

  it('are available to other small keys when small keys have returned them', () => {
    const bench = shedding();
    expect(flood(bench, 50, () => ({ key: 'vip', priority: 'critical' }))).toBe(CAPACITY - HIGH);
    leave(bench, CAPACITY - HIGH);
    for (let round = 0; round < 3; round += 1) {
      const small: Admission[] = [];
      for (let i = 0; i < 40; i += 1) {
        const result = bench.intake.admit({ key: `small ${String(round)} ${String(i)}` });
        if (result.admitted) small.push(result);
      }
      expect(small).toHaveLength(SMALL);
      for (const one of small) one.leave();
    }
  });

  it('are returned when their deliveries start', async () => {
    const options = { capacity: CAPACITY, concurrency: 1, maxWaitMs: 60_000, maxHandlingMs: 86_400_000 };
    const { intake, clock } = createBench(options);
    const started: Permit[] = occupy(intake, 'burst');
    const isAdmitted = (delivery: Delivery): boolean => {
      const result = intake.admit(delivery);
      if (!result.admitted) return false;
      void Promise.resolve(result.permit).then((permit) => permit.admitted && started.push(permit));
      return true;
    };
    const smallKeys = (round: number): number =>
      Array.from({ length: 40 }, (_, i) => isAdmitted({ key: `small ${String(round)} ${String(i)}` })).filter(
        Boolean,
      ).length;
    const fillTo = (depth: number, delivery: Delivery): void => {
      while (intake.snapshot().depth < depth) expect(isAdmitted(delivery)).toBe(true);
    };
    fillTo(HIGH, { key: 'burst' });
    expect(smallKeys(1)).toBe(SMALL);
    while (intake.snapshot().keys > 1) {
      clock.advance(100);
      started.shift()?.release();
      await reactions();
    }
    expect(intake.snapshot().state).toBe('shedding');
    fillTo(HIGH, { key: 'vip', priority: 'critical' });
    expect(smallKeys(2)).toBe(SMALL);
  });

  it('are shared among keys that hold some now, not among keys that did before', () => {
    const bench = shedding();
    const vip = (key: string): Delivery => ({ key, priority: 'critical' });
    const holders = Array.from({ length: CAPACITY - HIGH }, (_, i) =>
      letIn(bench.intake.admit(vip(`holder ${String(i)}`))),
    );
    for (const one of holders) one.leave();
    expect(answer(bench, vip('other'))).toBe('admitted');
    expect(flood(bench, 50, () => vip('vip'))).toBe(HALF);
  });

  it('are available to a key again while its other deliveries are still queued', () => {
    const bench = shedding('vip');
    const vip: Delivery = { key: 'vip', priority: 'critical' };
    for (let round = 0; round < 3; round += 1) {
      expect(answer(bench, { key: 'other', priority: 'critical' })).toBe('admitted');
      const taken: Admission[] = [];
      for (let i = 0; i < 40; i += 1) {
        const result = bench.intake.admit(vip);
        if (result.admitted) taken.push(result);
      }
      // The other key has one place of the lower quarter.
      expect(taken).toHaveLength(QUARTER - 1);
      expect(answer(bench, vip)).toBe('full');
      for (const one of taken) one.leave();
      // One leaves for each that has arrived.
      leave(bench, 1);
    }
  });

  it('are counted per delivery and returned however it leaves', async () => {
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
