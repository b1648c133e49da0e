import { describe, expect, it } from 'vitest';
import type { Delivery, IntakeEvent } from '@webhook-backpressure/core';
import { createBench, exponential, letIn, occupy, seeded, typesOf, type Bench } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

function gateEvents(events: readonly IntakeEvent[]): IntakeEvent[] {
  return events.filter(({ type }) => type === 'shedding' || type === 'accepting');
}

describe('the effective capacity', () => {
  it('moves the marks with the drain rate, from the same options', async () => {
    const highWaterAt = async (serviceMs: number): Promise<number> => {
      const bench = createBench({ concurrency: 10, capacity: 1000, maxWaitMs: 2000 });
      const workshop = new Workshop(bench, () => serviceMs);
      arrivals(
        bench.clock,
        20_000,
        () => 2,
        () => workshop.bring(),
      );
      await runUntil(bench.clock, 20_000);
      const { highWater, lowWater, effectiveCapacity: size, drainRate } = bench.intake.snapshot();
      expect(size).toBe(Math.min(1000, Math.floor(2 * (drainRate as number) + 1e-9)));
      expect({ highWater, lowWater }).toEqual({
        highWater: Math.ceil(0.8 * size),
        lowWater: Math.floor(0.5 * size),
      });
      return highWater;
    };
    expect(await highWaterAt(100)).toBeCloseTo(160, -1);
    expect(await highWaterAt(500)).toBeCloseTo(32, -1);
    expect(await highWaterAt(25)).toBeCloseTo(640, -2);
  });

  it('lets hardly any delivery expire, however slow the handlers become', async () => {
    const bench = createBench({ concurrency: 10, capacity: 1000, maxWaitMs: 2000 });
    const random = seeded(3);
    let meanMs = 50;
    const workshop = new Workshop(bench, () => exponential(random, meanMs));
    arrivals(
      bench.clock,
      60_000,
      () => 3,
      () => workshop.bring(),
    );
    for (const next of [100, 200, 400, 200, 100, 50]) {
      await runUntil(bench.clock, bench.clock.now() + 10_000);
      meanMs = next;
    }
    const { admitted, withdrawn } = bench.intake.snapshot().totals;
    expect(withdrawn.expired / admitted).toBeLessThanOrEqual(0.1);
  });

  it('shrinks in a stall and recovers after it, with one change of the gate each way', async () => {
    const bench = createBench({ concurrency: 10, capacity: 1000, maxWaitMs: 10_000 });
    const workshop = new Workshop(bench, () => 100);
    arrivals(
      bench.clock,
      60_000,
      () => 11,
      () => workshop.bring(),
    );
    workshop.stall = { fromMs: 20_000, toMs: 25_000 };
    await runUntil(bench.clock, 24_999);
    expect(bench.intake.snapshot().effectiveCapacity).toBeLessThanOrEqual(10);
    await runUntil(bench.clock, 60_000);
    expect(bench.intake.snapshot().effectiveCapacity).toBeGreaterThanOrEqual(900);
    expect(typesOf(gateEvents(bench.events))).toEqual(['shedding', 'accepting']);
  });
});

describe('shedding', () => {
  async function overloaded(
    keys: (i: number) => Delivery,
    perSecond: number,
    seconds: number,
  ): Promise<Bench> {
    const bench = createBench({ concurrency: 10, capacity: 500, maxWaitMs: 10_000 });
    const random = seeded(5);
    const workshop = new Workshop(bench, () => exponential(random, 100));
    let i = 0;
    arrivals(
      bench.clock,
      seconds * 1000,
      () => exponential(random, 1000 / perSecond),
      () => {
        workshop.bring(keys(i));
        i += 1;
        const { depth, effectiveCapacity: size } = bench.intake.snapshot();
        if (depth > Math.max(size, 500)) throw new Error(`${String(depth)} wait in ${String(size)} places`);
      },
    );
    await runUntil(bench.clock, seconds * 1000);
    return bench;
  }

  /** Each time it ends at the low mark, after the time to drain the queue from one mark to the other. */
  function expectCycles({ events }: Bench, least: number, most: number): void {
    const toggles = gateEvents(events);
    expect(toggles.length).toBeGreaterThanOrEqual(least);
    expect(toggles.length).toBeLessThanOrEqual(most);
    for (const event of toggles) {
      if (event.type === 'accepting') expect(event.depth).toBe(250);
      if (event.type === 'shedding') expect(event.depth).toBe(400);
    }
  }

  // At 100/s the queue is drained from 400 to 250 in 1.5 s, and filled again in a third of that: about 30 times a minute.
  it.each([2, 20])('begins and ends at the marks with %i keys', async (count) => {
    expectCycles(await overloaded((i) => ({ key: `key ${String(i % count)}` }), 400, 60), 30, 80);
  });

  it('begins and ends at the marks with 5,000 keys', async () => {
    // Nearly every key is alone in the queue, but with more than 250 of them none is small.
    expectCycles(await overloaded((i) => ({ key: `key ${String((i * 7919) % 5000)}` }), 400, 60), 30, 80);
  });

  it('begins and ends at the marks while a sender invents keys', async () => {
    const keys = (i: number): Delivery => ({ key: i % 4 === 0 ? 'honest' : `invented ${String(i)}` });
    expectCycles(await overloaded(keys, 1000, 60), 20, 80);
  });

  it('ends while a sender tops up keys that are just small enough', async () => {
    const bench = createBench({ concurrency: 10, capacity: 500, maxWaitMs: 10_000 });
    const workshop = new Workshop(bench, () => 100);
    const random = seeded(9);
    let keys = 1;
    arrivals(
      bench.clock,
      60_000,
      () => 1,
      () => {
        // A few keys with many places each, then many with few: the order that fills the queue highest.
        keys = 1 + Math.floor(250 * (bench.clock.now() % 5000) * 0.0002);
        workshop.bring({ key: `invented ${String(Math.floor(random() * keys))}` });
      },
    );
    await runUntil(bench.clock, 60_000);
    const toggles = gateEvents(bench.events);
    expect(toggles.length).toBeGreaterThanOrEqual(10);
    const closedMs = toggles.map(({ at }, i) => (i % 2 === 0 ? (toggles[i + 1]?.at ?? 60_000) - at : 0));
    // No delivery is queued for longer than 10 s, so the queue is not filled for longer.
    expect(Math.max(...closedMs)).toBeLessThanOrEqual(10_100);
  });

  it('ends when deliveries leave or expire, as it does when they are handled', async () => {
    const { intake, clock, events } = createBench({ concurrency: 1, capacity: 10, maxWaitMs: 1000 });
    occupy(intake);
    const waiting = Array.from({ length: 8 }, () => letIn(intake.admit()));
    for (const one of waiting.slice(0, 3)) one.leave();
    expect(typesOf(gateEvents(events))).toEqual(['shedding', 'accepting']);
    for (let i = 0; i < 3; i += 1) letIn(intake.admit());
    clock.advance(1100);
    await waiting[7]?.permit;
    expect(typesOf(gateEvents(events))).toEqual(['shedding', 'accepting', 'shedding', 'accepting']);
    expect(gateEvents(events).map((event) => 'depth' in event && event.depth)).toEqual([8, 5, 8, 5]);
  });
});
