import type { Delivery } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, reactions } from '../harness.ts';
import { Workshop } from '../workshop.ts';
import { answer, CAPACITY, flood, HALF, HIGH, shedding, type Shedding } from '../shedding.ts';

const never = (key: string): Delivery => ({ key, retries: false });

/** A queue that a flood of one key has filled, and that its sender keeps asking. */
function filled(delivery: Delivery): Shedding {
  const bench = shedding(delivery.key);
  flood(bench, CAPACITY, () => delivery);
  return bench;
}

/** The keys of the deliveries that have been displaced. */
function displaced({ events }: Shedding): string[] {
  return events.flatMap((event) =>
    event.type === 'withdrawn' && event.cause === 'displaced' ? [event.key] : [],
  );
}

describe('a delivery whose sender never retries, in a full queue', () => {
  it('displaces the youngest of the key that fills it', () => {
    const bench = filled(never('flood'));
    expect(bench.intake.snapshot().depth).toBe(CAPACITY);
    expect(answer(bench, never('small'))).toBe('admitted');
    expect(displaced(bench)).toEqual(['flood']);
    const [last] = bench.events.filter(({ type }) => type === 'withdrawn');
    expect(last).toMatchObject({ sequence: CAPACITY + 1, waitedMs: 0 });
    expect(bench.intake.snapshot()).toMatchObject({ depth: CAPACITY, keys: 2 });
  });

  it('displaces others while its key holds at most an equal share', () => {
    const bench = filled(never('flood'));
    expect(flood(bench, CAPACITY, () => never('small'))).toBe(CAPACITY / 2);
    expect(answer(bench, never('small'))).toBe('full');
    expect(answer(bench, never('flood'))).toBe('full');
  });

  it('displaces those of the longest line only until half of the queue is never retried', () => {
    const bench = shedding('burst');
    expect(answer(bench, { key: 'burst' })).toBe('shedding');
    for (let i = 0; i < CAPACITY; i += 1) flood(bench, 2, () => never(`forged ${String(i % 9)}`));
    const left = HIGH - displaced(bench).filter((key) => key === 'burst').length;
    expect(left).toBe(CAPACITY / 2);
    expect(bench.intake.snapshot()).toMatchObject({ depth: CAPACITY, keys: 10 });
  });

  it('displaces only one delivery during a stall, which lowers the effective capacity far below the queue', async () => {
    const bench = {
      ...createBench({ capacity: 1000, concurrency: 10, maxWaitMs: 8000 }),
      waiting: [],
    };
    const workshop = new Workshop(bench, () => 100);
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 10) {
        bench.clock.advance(10);
        await reactions();
      }
    };
    for (let i = 0; i < 2000; i += 1) {
      if (i >= 1300 && i % 2 === 0) workshop.bring({ key: 'burst' });
      workshop.bring({ key: 'burst' });
      await pass(10);
    }
    workshop.bring({ key: 'burst' });
    const { depth } = bench.intake.snapshot();
    expect(depth).toBeGreaterThan(300);
    workshop.stall = { fromMs: bench.clock.now(), toMs: Infinity };
    await pass(3500);
    const before = bench.intake.snapshot();
    expect(before.effectiveCapacity).toBeLessThan(20);
    workshop.bring({ key: 'burst' });
    expect(answer(bench, { ...never('small'), maxWaitMs: 8000 })).toBe('admitted');
    expect(displaced(bench)).toHaveLength(1);
  });

  it('displaces no critical delivery', () => {
    const bench = shedding('burst');
    flood(bench, HALF * 2, () => ({ key: 'burst', priority: 'critical' }));
    flood(bench, 5, () => ({ key: 'burst' }));
    expect(answer(bench, never('small'))).toBe('full');
    expect(displaced(bench)).toEqual([]);
  });

  it('is accepted by accepts() in the same cases', () => {
    const bench = filled(never('flood'));
    expect(bench.intake.accepts(never('small'))).toBe(true);
    expect(bench.intake.accepts(never('flood'))).toBe(false);
    expect(bench.intake.accepts({ key: 'other' })).toBe(false);
  });

  it('is refused like any other if its sender retries', () => {
    const bench = filled(never('flood'));
    expect(answer(bench, { key: 'small' })).toBe('full');
    expect(displaced(bench)).toEqual([]);
  });
});
