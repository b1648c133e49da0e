import { Unrecoverable } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { stream } from '@webhook-backpressure/planner/parts';
import { plainQueue } from './plain-queue.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { isLong } from '../../../long.ts';
import { HOUR, MINUTE, run, type Plan, type Result } from './outage-simulation.ts';

const PLAN: Plan = { stored: 1000, concurrency: 10, handlerMs: 100, outageMs: 10 * MINUTE };
const LONG: readonly [string, Plan][] = [
  ['of 10 minutes, 50 keys', { ...PLAN, keyOf: keys(50) }],
  ['of 6 hours', { ...PLAN, outageMs: 6 * HOUR, keyOf: keys(50) }],
  ['that hangs, one key', { ...PLAN, meet: until(10 * MINUTE, 'hang') }],
  ['of 48 hours', { ...PLAN, outageMs: 48 * HOUR, keyOf: keys(50) }],
  ['of 48 hours, one key', { ...PLAN, outageMs: 48 * HOUR }],
  ['of 10 minutes, 3 keys', { ...PLAN, keyOf: keys(3) }],
  ['of 10 minutes, 100 workers', { ...PLAN, stored: 3000, concurrency: 100, keyOf: keys(50) }],
  ['that hangs, one worker', { ...PLAN, concurrency: 1, meet: until(10 * MINUTE, 'hang') }],
];
const MANY_KEYS = isLong ? 100_000 : 4000;
const RETRY = { attempts: 21, firstDelayMs: 5000, maxDelayMs: 43_200_000 };
const BEFORE = { attempts: 8, firstDelayMs: 1000, maxDelayMs: 3_600_000 };

function keys(count: number): (number: number) => string {
  return (number) => `key ${String(number % count)}`;
}

function until(outageMs: number, what: 'throw' | 'hang'): Plan['meet'] {
  return (atMs) => (atMs < outageMs ? what : 'work');
}

function completedBy({ events }: Result, atMs: number): number {
  return events.filter((event) => event.type === 'completed' && event.at <= atMs).length;
}

function outagesOf({ events }: Result): (string | null)[] {
  return events.flatMap((event) => (event.type === 'outage' ? [event.key] : []));
}

describe('an outage of everything', () => {
  const outages: readonly [string, Plan][] = [
    ['of 10 minutes', PLAN],
    ['of 10 minutes, one worker', { ...PLAN, concurrency: 1 }],
    ['that hangs', { ...PLAN, keyOf: keys(50), meet: until(10 * MINUTE, 'hang') }],
    ...(isLong ? LONG : []),
  ];

  it.each(outages)(
    '%s costs no delivery more than one attempt',
    async (_, plan) => {
      const result = await run(plan);
      expect(result).toMatchObject({ deadLetters: 0, completed: plan.stored });
      // The first failures, by which the outage is detected, count.
      expect(result.mostAttempts).toBeLessThanOrEqual(2);
      // One every 15 to 20 s for each key that is probed separately, and those in flight at the start.
      const probes =
        (plan.outageMs / 15_000) * (plan.keyOf?.(1) === 'key 1' && outagesOf(result)[0] !== null ? 3 : 1);
      expect(result.attemptsInOutage).toBeLessThan(probes + 60 + plan.concurrency);
      // Back at full speed within a minute, and not all at the same moment.
      expect(result.fullAfterMs).toBeLessThan(MINUTE);
    },
    60_000,
  );

  it('ends for thousands of keys as soon as for one, with one probe at a time', async () => {
    const plan = {
      ...PLAN,
      stored: MANY_KEYS,
      keyOf: keys(MANY_KEYS),
      concurrency: 100,
      outageMs: 2 * MINUTE,
      afterMs: 30_000,
    };
    const result = await run(plan);
    expect(result.deadLetters).toBe(0);
    expect(result.completed).toBeGreaterThan(3000);
    expect(result.mostAttempts).toBeLessThanOrEqual(2);
    expect(result.attemptsInOutage).toBeLessThan(130);
    expect(result.fullAfterMs).toBeLessThan(MINUTE);
    expect(result.peakPerSecond.slice(0, 4)).toEqual([1, 2, 4, 8]);
  }, 60_000);

  it('is followed by a growing number of handlers, while a plain queue starts all at the same moment', async () => {
    const { begunPerSecond, peakPerSecond } = await run({
      ...PLAN,
      handlerMs: 10,
      concurrency: 64,
      keyOf: keys(50),
      stored: 5000,
    });
    expect(peakPerSecond.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 32]);
    expect(begunPerSecond[0]).toBeLessThan(100);
  }, 60_000);

  it('costs fewer attempts and less time than with a plain queue', async () => {
    const ours = await run({ ...PLAN, outageMs: 6 * HOUR, afterMs: 6 * HOUR });
    const [hand, before] = [
      plainQueue({ ...PLAN, outageMs: 6 * HOUR }, RETRY),
      plainQueue({ ...PLAN, outageMs: 6 * HOUR }, BEFORE),
    ];
    expect(before.deadLetters).toBe(1000);
    expect(hand.deadLetters).toBe(0);
    expect(ours.attemptsInOutage).toBeLessThan(hand.attemptsInOutage / 8);
    expect(ours.clearAfterMs).toBeLessThan(MINUTE);
    expect(hand.clearAfterMs).toBeGreaterThan(3 * HOUR);
  }, 60_000);

  it('is not detected when half of the attempts fail', async () => {
    for (const keyOf of [keys(50)]) {
      const chance = stream(7, 'flapping');
      const meet = (): 'throw' | 'work' => (chance() < 0.5 ? 'throw' : 'work');
      const result = await run({ ...PLAN, outageMs: 0, keyOf, meet });
      expect([outagesOf(result), result.deadLetters]).toEqual([[], 0]);
      // 100 attempts per second, of which half succeed; then the retries as they become due.
      expect(completedBy(result, 20_000)).toBeGreaterThan(750);
    }
  });

  it('that recurs is detected each time, and ended each time', async () => {
    const meet: Plan['meet'] = (atMs) =>
      atMs % MINUTE < MINUTE / 2 && atMs < 10 * MINUTE ? 'throw' : 'work';
    const result = await run({ ...PLAN, stored: 5000, handlerMs: 200, keyOf: keys(50), meet });
    expect(result).toMatchObject({ deadLetters: 0, completed: 5000 });
    expect(result.mostAttempts).toBeLessThanOrEqual(3);
    expect(outagesOf(result)).toHaveLength(10);
  });

  it('that ends slowly is not prolonged: hardly more handlers run than the service can serve', async () => {
    const capacityAt = (atMs: number): number => (atMs - PLAN.outageMs) / 3000;
    let worst = 0;
    const meet: Plan['meet'] = (atMs, _, active) => {
      if (atMs < PLAN.outageMs) return 'throw';
      if (capacityAt(atMs) >= 1) worst = Math.max(worst, active / Math.floor(capacityAt(atMs)));
      return active > capacityAt(atMs) ? 'throw' : 'work';
    };
    const result = await run({ ...PLAN, stored: 5000, keyOf: keys(50), concurrency: 50, meet });
    expect(result).toMatchObject({ deadLetters: 0, completed: 5000 });
    expect(result.mostAttempts).toBeLessThanOrEqual(6);
    expect(worst).toBeLessThanOrEqual(16);
    // With a plain queue all 50 workers would call it all the time.
    expect(Math.max(...result.peakPerSecond)).toBeLessThanOrEqual(16);
  });
});

describe('a key whose handlers fail', () => {
  const ofOne = (what: 'throw' | 'hang'): Plan => ({
    ...PLAN,
    stored: 2000,
    outageMs: 0,
    keyOf: keys(10),
    meet: (_, number) => (number % 10 === 0 ? what : 'work'),
  });

  it('does not slow other keys down, and loses no attempts', async () => {
    const result = await run(ofOne('throw'));
    expect(outagesOf(result)).toEqual(['key 0']);
    expect(result.mostAttempts).toBe(1);
    // 99 of 100 per second.
    expect(completedBy(result, 18_500)).toBe(1800);
    expect(result.snapshots[0]).toMatchObject({ depth: 200, failingKeys: 1, outageMs: null });
  });

  it('uses at most a quarter of the workers once it is detected that its handlers hang', async () => {
    const result = await run(ofOne('hang'));
    expect(outagesOf(result)).toEqual(['key 0']);
    expect(completedBy(result, MINUTE)).toBeLessThan(100);
    expect(completedBy(result, MINUTE + 25_000)).toBe(1800);
  });

  it('uses no more workers than maxConcurrencyPerKey from the start', async () => {
    const result = await run({ ...ofOne('hang'), options: { maxConcurrencyPerKey: 2 } });
    expect(completedBy(result, 23_000)).toBe(1800);
  });

  it('leaves a single worker to other keys three quarters of the time', async () => {
    const result = await run({
      ...ofOne('hang'),
      concurrency: 1,
      stored: 5000,
      afterMs: 8 * MINUTE,
      fineMs: 8 * MINUTE,
    });
    const [fromMs, toMs] = [4 * MINUTE, 8 * MINUTE];
    const done = completedBy(result, toMs) - completedBy(result, fromMs);
    expect(done / ((toMs - fromMs) / 100)).toBeGreaterThan(0.6);
  }, 60_000);
});

describe('a delivery that always fails', () => {
  /** Deliveries that always fail, and now and then one that succeeds. */
  async function among(
    poison: number,
    of: number,
    everyMs: number,
  ): Promise<{ bench: InboxBench; slowestMs: number }> {
    let slowestMs = 0;
    const bench = new InboxBench({
      random: stream(1, 'poison'),
      keyGenerator: ({ text }) => keys(of)(Number(text().split(' ')[1])),
      process: ({ text, receivedAt }) => {
        if (text().startsWith('poison')) throw new Error('It is poison.');
        slowestMs = Math.max(slowestMs, bench.wallOffsetMs + bench.clock.now() - Number(receivedAt));
      },
    });
    for (let at = 0; at < poison; at += 1) await bench.send(`p${String(at)}`, `poison ${String(at)}`);
    for (let at = 0; bench.clock.now() < 110 * HOUR; at += 1) {
      await bench.send(String(at), `good ${String(at)}`);
      for (let ms = 0; ms < everyMs; ms += 20_000) {
        bench.clock.advance(20_000);
        await turns(2);
      }
    }
    return { bench, slowestMs };
  }

  it.each([
    ['alone', 1, 1],
    ['thirty of ten keys', 30, 10],
  ])(
    'becomes a dead letter after its attempts while others succeed: %s',
    async (_, poison, of) => {
      const { bench, slowestMs } = await among(poison, of, 10 * MINUTE);
      expect(bench.inbox.snapshot()).toMatchObject({
        deadLetters: poison,
        depth: 0,
        totals: { dead: poison },
      });
      // From ten on they look like an outage while no other delivery arrives, and others wait for some of their probes.
      expect(slowestMs).toBeLessThan(poison > 9 ? 15 * MINUTE : MINUTE);
    },
    60_000,
  );

  it.runIf(isLong)(
    'becomes a dead letter after 72 hours and its attempts even when no attempt ever succeeds',
    async () => {
      const result = await run({
        ...PLAN,
        stored: 30,
        outageMs: 0,
        afterMs: 200 * HOUR,
        fineMs: 0,
        meet: () => 'throw',
      });
      expect(result).toMatchObject({ deadLetters: 30, mostAttempts: 21 });
      const outages = result.events.flatMap((event) =>
        event.type === 'outage' ? [[event.at, event.isCounting]] : [],
      );
      expect(outages).toHaveLength(2);
      expect(outages[0]?.[1]).toBe(false);
      expect(Number(outages[1]?.[0]) / HOUR).toBeCloseTo(72, 0);
      expect(outages[1]?.[1]).toBe(true);
    },
    60_000,
  );
});

it('forgets a failing key that has no deliveries any more', async () => {
  const bench = new InboxBench({
    keyGenerator: ({ text }) => text(),
    process: ({ key }) => {
      if (key === 'gone') throw new Error('It is gone.');
    },
  });
  for (let at = 0; at < 10; at += 1) await bench.send(String(at), 'gone');
  await bench.advance(100);
  expect(bench.inbox.snapshot().failingKeys).toBe(1);
  await bench.inbox.pause('gone');
  for (let at = 0; at < 15; at += 1) await bench.advance(MINUTE);
  expect(bench.inbox.snapshot().failingKeys).toBe(0);
  expect(bench.told('outage', 'restored')).toEqual(['outage', 'restored']);
});

describe('deliveries that always fail, in an outage', () => {
  it('do not delay the others after it', async () => {
    let isUp = false;
    const done: number[] = [];
    const bench = new InboxBench({
      concurrency: 10,
      process: ({ id }) => {
        if (id.startsWith('poison')) throw new Unrecoverable('It has no recipient.');
        if (!isUp) throw new Error('The database is down.');
        done.push(bench.clock.now());
      },
    });
    for (let at = 0; at < 10; at += 1) await bench.deliver(`good ${String(at)}`);
    await bench.advance(1000);
    for (let at = 0; at < 200; at += 1) await bench.deliver(`poison ${String(at)}`);
    for (let second = 0; second < 60; second += 1) await bench.advance(1000);
    expect(bench.inbox.snapshot().failingKeys).toBe(1);
    isUp = true;
    const upMs = bench.clock.now();
    for (let second = 0; second < 60; second += 1) await bench.advance(1000);
    expect((done[0] as number) - upMs).toBeLessThanOrEqual(20_000);
    expect(done).toHaveLength(10);
  });
});
