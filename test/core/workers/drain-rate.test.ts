import { describe, expect, it } from 'vitest';
import { DrainRate } from '@webhook-backpressure/core/extend';
import { createBench, exponential, occupy, seeded, startedNow, typesOf, type Bench } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

// Ten workers of 100 ms on average can sustain 100/s.
const WORKERS = 10;
const SERVICE_MS = 100;
const TRUTH = 100;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

type Distribution = 'constant' | 'exponential';

interface Trace extends Bench {
  readonly workshop: Workshop;
  readonly random: () => number;
  meanMs: number;
  rate(): number;
}

function start(distribution: Distribution, seed: number): Trace {
  const bench = createBench({ concurrency: WORKERS, capacity: 5000, maxWaitMs: 60_000 });
  const random = seeded(seed);
  const workshop = new Workshop(bench, () =>
    distribution === 'constant' ? trace.meanMs : exponential(random, trace.meanMs),
  );
  const trace: Trace = {
    ...bench,
    workshop,
    random,
    meanMs: SERVICE_MS,
    rate: () => bench.intake.snapshot().drainRate ?? Number.NaN,
  };
  return trace;
}

/** From now on, more arrives than can be handled. */
function burst({ clock, workshop }: Trace, gapMs = 2): void {
  arrivals(
    clock,
    Infinity,
    () => gapMs,
    () => workshop.bring(),
  );
}

async function lightLoad({ clock, workshop, random }: Trace, seconds: number): Promise<void> {
  const untilMs = clock.now() + seconds * 1000;
  arrivals(
    clock,
    untilMs,
    () => exponential(random, 1000 / (0.3 * TRUTH)),
    () => workshop.bring(),
  );
  await runUntil(clock, untilMs);
}

/** The largest relative error of the estimate between two times. */
async function worstError(trace: Trace, fromS: number, toS: number, truth: number): Promise<number> {
  const startMs = trace.clock.now();
  let worst = 0;
  for (let second = fromS; second <= toS; second += 0.1) {
    await runUntil(trace.clock, startMs + second * 1000);
    worst = Math.max(worst, Math.abs(trace.rate() / truth - 1));
  }
  return worst;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('the drain rate', () => {
  it.each(['idle', 'a load of 30 %'])(
    'is right within 20 %% from 2 s of saturation on, from %s',
    async (before) => {
      const trace = start('constant', 1);
      if (before !== 'idle') await lightLoad(trace, 60);
      burst(trace);
      expect(await worstError(trace, 2, 12, TRUTH)).toBeLessThanOrEqual(0.2);
    },
  );

  it.each(['idle', 'a load of 30 %'])('is right at 2 s with exponential service, from %s', async (before) => {
    const rates: number[] = [];
    for (const seed of SEEDS) {
      const trace = start('exponential', seed);
      if (before !== 'idle') await lightLoad(trace, 60);
      burst(trace);
      await runUntil(trace.clock, trace.clock.now() + 2000);
      rates.push(trace.rate());
    }
    for (const rate of rates) expect(Math.abs(rate / TRUTH - 1)).toBeLessThanOrEqual(0.2);
    expect(Math.abs(mean(rates) / TRUTH - 1)).toBeLessThanOrEqual(0.05);
  });

  it('follows within 3 s when the service time doubles', async () => {
    const trace = start('constant', 1);
    await lightLoad(trace, 60);
    burst(trace, 8.5);
    await runUntil(trace.clock, trace.clock.now() + 10_000);
    trace.meanMs = 2 * SERVICE_MS;
    expect(await worstError(trace, 3, 13, TRUTH / 2)).toBeLessThanOrEqual(0.2);
  });

  it('follows within 3 s on average when an exponential service time doubles, and never far off', async () => {
    const rates: number[] = [];
    for (const seed of SEEDS) {
      const trace = start('exponential', seed);
      await lightLoad(trace, 20);
      burst(trace, 8.5);
      await runUntil(trace.clock, trace.clock.now() + 10_000);
      trace.meanMs = 2 * SERVICE_MS;
      await runUntil(trace.clock, trace.clock.now() + 3000);
      rates.push(trace.rate());
    }
    expect(Math.abs(mean(rates) / (TRUTH / 2) - 1)).toBeLessThanOrEqual(0.2);
    for (const rate of rates) expect(Math.abs(rate / (TRUTH / 2) - 1)).toBeLessThanOrEqual(0.35);
  });

  it.each<Distribution>(['constant', 'exponential'])(
    'falls to 1/s after 3 s of a stall, and recovers within 3 s of its end (%s service)',
    async (distribution) => {
      const trace = start(distribution, 7);
      burst(trace, 8.5);
      trace.workshop.stall = { fromMs: 10_000, toMs: 30_000 };
      await runUntil(trace.clock, 13_000);
      expect(trace.rate()).toBeLessThanOrEqual(1);
      await runUntil(trace.clock, 29_999);
      expect(trace.rate()).toBeLessThanOrEqual(0.2);
      expect(trace.intake.snapshot().state).toBe('stalled');
      await runUntil(trace.clock, 30_000);
      expect(await worstError(trace, 3, 13, TRUTH)).toBeLessThanOrEqual(0.2);
      const reported = typesOf(trace.events).filter((type) => type === 'stalled' || type === 'recovered');
      expect(reported).toEqual(['stalled', 'recovered']);
    },
  );

  it('does not change while the workers are idle or little used', async () => {
    const idle = start('constant', 1);
    occupy(idle.intake).forEach((permit) => idle.clock.setTimeout(permit.release.bind(permit), SERVICE_MS));
    await runUntil(idle.clock, 1000);
    const before = idle.rate();
    expect(before).toBeGreaterThan(0);
    idle.clock.advance(86_400_000);
    expect(idle.rate()).toBe(before);
    startedNow(idle.intake.admit());
    idle.clock.advance(30_000);
    expect(idle.rate()).toBe(before);
    expect(idle.intake.snapshot().state).toBe('accepting');
  });

  it('is unknown before the first completion, and known after it', () => {
    const { intake, clock } = createBench({ concurrency: 4 });
    const [first] = occupy(intake);
    clock.advance(100);
    expect(intake.snapshot().drainRate).toBeNull();
    first?.release();
    expect(intake.snapshot().drainRate).toBeCloseTo(40, -1);
  });

  it('never exceeds the paced rate of starts', async () => {
    const bench = createBench({ concurrency: 10, maxStartsPerSecond: 30 });
    const workshop = new Workshop(bench, () => 10);
    workshop.bring();
    await runUntil(bench.clock, 1000);
    expect(bench.intake.snapshot().drainRate).toBe(30);
    bench.intake.update({ maxStartsPerSecond: 7 });
    expect(bench.intake.snapshot().drainRate).toBe(7);
  });

  it('stays a finite number above zero with handlers faster than the clock', () => {
    const { intake } = createBench({ concurrency: 1 });
    startedNow(intake.admit()).release();
    const { drainRate, effectiveCapacity } = intake.snapshot();
    expect(drainRate).toSatisfy((rate: number) => rate > 0 && Number.isFinite(rate));
    expect(effectiveCapacity).toBe(1000);
  });
});

describe('the rate of the same workers', () => {
  it('follows a change of their number immediately', () => {
    const rate = new DrainRate(WORKERS);
    rate.look(true, 0);
    for (let i = 1; i <= 20_000; i += 1) rate.complete(SERVICE_MS, (i * SERVICE_MS) / WORKERS, 0);
    expect(rate.steadyRate).toBeCloseTo(TRUTH, 0);
    rate.scale(2);
    rate.workers *= 2;
    expect(rate.steadyRate).toBeCloseTo(2 * TRUTH, 0);
  });
});

describe('a stall', () => {
  it('is reported once after 10 s even if nothing has ever completed, and its end is reported', () => {
    const { intake, clock, events } = createBench({ concurrency: 2, maxHandlingMs: 600_000 });
    const permits = occupy(intake);
    clock.advance(10_000);
    expect(intake.snapshot()).toMatchObject({ state: 'accepting', drainRate: null });
    clock.advance(51);
    expect(intake.snapshot()).toMatchObject({ state: 'stalled', drainRate: null });
    clock.advance(300_000);
    permits[0]?.release('failure');
    expect(intake.snapshot().state).toBe('accepting');
    clock.advance(60_000);
    expect(typesOf(events)).toEqual(['started', 'started', 'stalled', 'completed', 'recovered']);
  });

  it('of slow handlers begins after ten of their mean times', () => {
    const { intake, clock } = createBench({ concurrency: 1, maxHandlingMs: 600_000 });
    for (let i = 0; i < 50; i += 1) {
      const permit = startedNow(intake.admit());
      clock.advance(2000);
      permit.release();
    }
    startedNow(intake.admit());
    clock.advance(20_000);
    expect(intake.snapshot().state).toBe('accepting');
    clock.advance(51);
    expect(intake.snapshot().state).toBe('stalled');
  });

  it('is not reported while a worker is free', () => {
    const { intake, clock } = createBench({ concurrency: 2, maxHandlingMs: 600_000 });
    startedNow(intake.admit());
    clock.advance(500_000);
    expect(intake.snapshot().state).toBe('accepting');
  });
});
