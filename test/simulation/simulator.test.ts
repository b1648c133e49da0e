import { describe, expect, it } from 'vitest';
import { simulate } from '@webhook-backpressure/planner/parts';

/** Four deliveries, 0.25 s apart, for one worker that needs 1 s for each. */
const small = {
  intake: { capacity: 1, concurrency: 1 },
  policy: 'constant:5',
  service: { meanMs: 1000 },
  arrivals: [{ fromS: 0, toS: 1, perSecond: 4 }],
  senders: [{ key: 'shop', retry: 'retry-after' }],
};

const SEED_OF_PATIENT_THEN_IMPATIENT = 6;

const busy = {
  seed: 7,
  intake: { capacity: 50, concurrency: 4 },
  service: { meanMs: 100, distribution: 'exponential' },
  arrivals: [{ fromS: 0, toS: 60, perSecond: 50, process: 'poisson' }],
  senders: [
    { key: 'shop', share: 2, retry: 'retry-after' },
    { key: 'bank', share: 1, identified: false, retry: 'exponential:5:2:3600', timeoutMs: 900 },
  ],
};

describe('a run calculated by hand', () => {
  it('has these results with refusals and retries', async () => {
    // Delivery 0 starts at 0. Delivery 1 is queued from 0.25, so shedding begins: 2 and 3 are refused at 0.5 and 0.75.
    // Delivery 1 starts at 1, which ends shedding, and ends at 2. Delivery 2 retries and starts at 5.5. Delivery 3 is
    // queued from 5.75, so shedding begins; it starts at 6.5, which ends shedding, and ends at 7.5.
    // Without a gate all would end at 4, with queued deliveries from 0.25 to 3; the worker is busy until 2.
    const { results } = await simulate(small);
    expect(results).toEqual({
      events: 4,
      delivered: 4,
      lost: 0,
      attemptsPerEvent: 1.5,
      maxAttempts: 2,
      clearS: 7.5,
      idealClearS: 4,
      goodput: 0.636364,
      gateToggles: 4,
      peakReturnsPerSecond: 2,
      maxDepth: 1,
      delayS: { p50: 1.75, p99: 6.75, max: 6.75 },
      perKey: {
        shop: {
          events: 4,
          delivered: 4,
          lost: 0,
          handledInVain: 0,
          handledAgain: 0,
          attemptsPerEvent: 1.5,
          refused: 2,
          p99WaitS: 0.75,
          delayS: { p50: 1.75, p99: 6.75 },
          switchedOff: 0,
          switchedOffS: null,
        },
      },
      jain: 1,
    });
  });

  it('counts events per second', async () => {
    const { seen } = await simulate(small);
    const idle = { arrivals: 0, retries: 0, refusals: 0, completions: 0, depth: 0, retryAfterS: 0 };
    expect(seen.series.seconds).toEqual([
      { ...idle, arrivals: 4, refusals: 2, depth: 1, retryAfterS: 10 },
      // Delivery 1 starts at the beginning of this second, so it was queued in it.
      { ...idle, completions: 1, depth: 1 },
      { ...idle, completions: 1 },
      idle,
      idle,
      { ...idle, retries: 2, depth: 1 },
      { ...idle, completions: 1, depth: 1 },
      { ...idle, completions: 1 },
    ]);
  });

  it('counts sender timeouts in the queue and in handlers, and gives up', async () => {
    // Senders time out after 1.5 s. Delivery 0 is handled from 0 to 1. Deliveries 1 and 2, sent at 0.25 and 0.5, time
    // out at 1.75 and 2, and retry 10 s later. Delivery 1 is handled from 11.75 to 12.75. Delivery 2 is queued from 12,
    // times out at 13.5, and was its sender's last attempt.
    const { results } = await simulate({
      ...small,
      intake: { capacity: 10, concurrency: 1 },
      arrivals: [{ fromS: 0, toS: 0.75, perSecond: 4 }],
      senders: [{ key: 'shop', retry: 'fixed:10', timeoutMs: 1500, maxAttempts: 2 }],
    });
    expect(results).toMatchObject({
      events: 3,
      delivered: 2,
      lost: 1,
      attemptsPerEvent: 1.666667,
      clearS: 12.75,
      perKey: { shop: { delivered: 2, refused: 0 } },
      jain: 1,
    });
  });

  it('withdraws a queued delivery when its sender times out', async () => {
    const abandoned: number[] = [];
    const { results, traffic } = await simulate(
      {
        ...small,
        seed: SEED_OF_PATIENT_THEN_IMPATIENT,
        arrivals: [{ fromS: 0, toS: 0.5, perSecond: 4 }],
        senders: [
          { key: 'patient', retry: 'none' },
          { key: 'impatient', retry: 'none', timeoutMs: 500 },
        ],
      },
      {
        everyMs: 100,
        read: (intake) => {
          abandoned.push(intake.snapshot().totals.withdrawn.abandoned);
        },
      },
    );
    expect([...traffic.sender]).toEqual([0, 1]);
    // It arrived at 0.25 and is withdrawn between 0.7 and 0.8.
    expect(abandoned.indexOf(1)).toBe(8);
    expect(results).toMatchObject({ delivered: 1, lost: 1, clearS: 1, maxDepth: 1 });
  });

  it('has this ideal for 5,000 deliveries in 4 s at 100/s', async () => {
    const { results } = await simulate({
      service: { meanMs: 100 },
      policy: 'constant:60',
      arrivals: [{ fromS: 0, toS: 4, perSecond: 1250 }],
      senders: [{ key: 'shop', retry: 'retry-after' }],
    });
    // The last of the ten workers starts after 7.2 ms, and then no worker is idle.
    expect(results.idealClearS).toBe(50.0072);
    expect(results.events).toBe(5000);
  });

  it('paces the ideal run like the intake', async () => {
    const { results } = await simulate({
      ...small,
      intake: { concurrency: 4, maxStartsPerSecond: 2 },
      service: { meanMs: 10 },
    });
    expect(results).toMatchObject({ clearS: 1.51, idealClearS: 1.51 });
  });

  it('counts per key', async () => {
    const senders = [
      { key: 'shop', retry: 'retry-after' },
      { key: 'bank', retry: 'none' },
    ];
    const { results } = await simulate({
      ...small,
      arrivals: [{ fromS: 0, toS: 10, perSecond: 4 }],
      senders,
    });
    const { shop, bank } = results.perKey;
    expect(shop?.delivered).toBe(shop?.events);
    expect(bank?.delivered).toBeLessThan(bank?.events ?? 0);
    expect(results.lost).toBe((bank?.events ?? 0) - (bank?.delivered ?? 0));
    const share = (bank?.delivered ?? 0) / (bank?.events ?? 0);
    expect(results.jain).toBeCloseTo((1 + share) ** 2 / (2 * (1 + share ** 2)), 6);
  });
});

describe('randomness', () => {
  it('is the same for the same seed', async () => {
    const [first, second] = await Promise.all([simulate(busy), simulate(busy)]);
    expect(second.results).toEqual(first.results);
    expect(second.seen.series.seconds).toEqual(first.seen.series.seconds);
  });

  it('differs for another seed', async () => {
    const [first, second] = await Promise.all([simulate(busy), simulate({ ...busy, seed: 8 })]);
    expect(second.results).not.toEqual(first.results);
  });

  it('gives every policy the same deliveries', async () => {
    const [first, second] = await Promise.all([simulate(busy), simulate({ ...busy, policy: 'constant:3' })]);
    expect(second.traffic).toEqual(first.traffic);
    expect(second.results.attemptsPerEvent).not.toBe(first.results.attemptsPerEvent);
  });
});

describe('a simulation', () => {
  it('settles every delivery', async () => {
    const { results } = await simulate(busy);
    expect(results.delivered + results.lost).toBe(results.events);
    expect(results.perKey['shop']?.events).toBeGreaterThan(results.perKey['bank']?.events ?? Infinity);
    expect(results.maxDepth).toBeLessThanOrEqual(50);
  });

  it('calls a sampler at regular intervals', async () => {
    const depths: number[] = [];
    await simulate(small, {
      everyMs: 400,
      read: (intake) => {
        depths.push(intake.snapshot().depth);
      },
    });
    // Delivery 1 is queued from 0.25 to 1, and delivery 3 from 5.75 to 6.5.
    expect(depths.flatMap((depth, index) => (depth > 0 ? [index * 400] : []))).toEqual([
      400, 800, 6000, 6400,
    ]);
  });

  it('reports a scenario that never settles', async () => {
    const closed = {
      ...small,
      intake: { shed: { shop: true } },
      senders: [{ key: 'shop', retry: 'fixed:60' }],
    };
    await expect(simulate(closed, undefined, 1000)).rejects.toThrow(/must settle within 1000 attempts/);
  });
});

describe('handlers five times slower, in a burst of 2,000 at 190/s', () => {
  it.each([
    ['for 5 s after a second', 1, 6, 1.5],
    ['for 5 s after two seconds', 2, 7, 1.65],
    ['for 5 s after three seconds', 3, 8, 1.75],
    ['for good', 1, 1000, 1.05],
  ])('leave workers idle for a short time only: %s', async (_, fromS, toS, most) => {
    const { results } = await simulate({
      service: { meanMs: 52.63, slow: [{ fromS, toS, factor: 5 }] },
      arrivals: [{ fromS: 0, toS: 2, perSecond: 1000 }],
      senders: [{ key: 'shop', retry: 'retry-after' }],
    });
    expect(results.delivered).toBe(2000);
    const { clearS, idealClearS } = results;
    expect((clearS ?? Infinity) / (idealClearS ?? 0)).toBeLessThanOrEqual(most);
  });
});
