import { describe, expect, it } from 'vitest';
import { ScenarioError, simulate } from '@webhook-backpressure/planner/parts';

/** Four deliveries, 0.25 s apart, for one worker that needs 1 s for each. */
const small = {
  mode: 'inbox',
  inbox: { concurrency: 1 },
  service: { meanMs: 1000 },
  arrivals: [{ fromS: 0, toS: 1, perSecond: 4 }],
  senders: [{ key: 'shop', retry: 'none', timeoutMs: 500 }],
};

describe('a run with an inbox', () => {
  it('acknowledges first and handles later, as calculated by hand', async () => {
    const { results } = await simulate(small);
    expect(results).toMatchObject({
      events: 4,
      delivered: 4,
      lost: 0,
      attemptsPerEvent: 1,
      clearS: 4,
      idealClearS: 4,
      goodput: 1,
      maxDepth: 4,
      // Deliveries arrive at 0, 0.25, 0.5 and 0.75, and end at 1, 2, 3 and 4.
      delayS: { p50: 1.75, p99: 3.25, max: 3.25 },
      perKey: { shop: { events: 4, delivered: 4, refused: 0, p99WaitS: 2.25 } },
      inbox: { acknowledged: 4, acknowledgedS: { p50: 0, p99: 0, max: 0 }, duplicates: 0, handledTwice: 0 },
    });
  });

  it('gives each worker its next delivery at the time at which it becomes free', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 3 },
      service: { meanMs: 30, distribution: 'exponential' },
      arrivals: [{ fromS: 0, toS: 4, perSecond: 150, process: 'poisson' }],
    });
    expect(results).toMatchObject({ delivered: results.events, goodput: 1, clearS: results.idealClearS });
  });

  it('refuses above the high-water mark, and sees the retries', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 1, capacity: 2, retryAfter: { strategy: 'depth' } },
      senders: [{ key: 'shop', retry: 'retry-after' }],
    });
    expect(results.perKey['shop']?.refused).toBeGreaterThan(0);
    expect(results).toMatchObject({ delivered: 4, lost: 0, maxDepth: 2 });
    expect(results.inbox?.acknowledged).toBe(4);
    expect(results.gateToggles).toBeGreaterThan(0);
  });

  it('counts what senders give up as lost', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 1, capacity: 2, highWaterMark: 1 },
    });
    expect(results).toMatchObject({ delivered: 2, lost: 2 });
  });

  it('acknowledges after the commit, for which deliveries wait in turn', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 1, commitMs: 10 },
      arrivals: [{ fromS: 0, toS: 0.003, perSecond: 1000 }],
    });
    // The first is committed at 10 ms, its claim at 20 ms, and the other two together at 30 ms.
    expect(results.inbox?.acknowledgedS).toEqual({ p50: 0.028, p99: 0.029, max: 0.029 });
  });

  it('keeps a delivery whose sender timed out before the commit', async () => {
    const slow = { concurrency: 1, commitMs: 600 };
    const arrivals = [{ fromS: 0, toS: 0.1, perSecond: 10 }];
    const givingUp = await simulate({ ...small, arrivals, inbox: slow });
    expect(givingUp.results).toMatchObject({
      delivered: 1,
      lost: 0,
      inbox: { acknowledged: 0, duplicates: 0 },
    });
    const senders = [{ key: 'shop', retry: 'fixed:5', timeoutMs: 700, maxAttempts: 2 }];
    const unhurried = await simulate({ ...small, arrivals, senders, inbox: slow });
    expect(unhurried.results).toMatchObject({ attemptsPerEvent: 1, inbox: { acknowledged: 1 } });
  });

  it('recognizes the retry of a delivery that it has stored, if it has an id', async () => {
    const arrivals = [{ fromS: 0, toS: 0.1, perSecond: 10 }];
    const sender = { key: 'shop', retry: 'fixed:5', timeoutMs: 500, maxAttempts: 2 };
    const inbox = { concurrency: 1, commitMs: 600 };
    const known = await simulate({ ...small, arrivals, inbox, senders: [sender] });
    expect(known.results).toMatchObject({ delivered: 1, inbox: { duplicates: 1, handledTwice: 0 } });
    const unknown = await simulate({
      ...small,
      arrivals,
      inbox,
      senders: [{ ...sender, identified: false }],
    });
    expect(unknown.results).toMatchObject({ delivered: 1, inbox: { duplicates: 0, handledTwice: 1 } });
  });

  const SOURCE = { source: 'a test', verifiedAt: '2026-11-22' };
  const strict = {
    name: 'strict',
    match: { header: 'x-strict' },
    timeoutMs: 5000,
    success: 200,
    ...SOURCE,
    retries: { scheduleS: [1], maxAttempts: 7 },
  };

  it.each<[string, object, object]>([
    ['once if it is recognized', {}, { attemptsPerEvent: 1, inbox: { handledTwice: 0 } }],
    ['once if it is unknown', { recognized: false }, { attemptsPerEvent: 1, inbox: { handledTwice: 0 } }],
  ])('handles the event of a sender that takes only 200 %s', async (_, sender, results) => {
    const run = await simulate({ ...small, senders: [{ profile: strict, ...sender }] });
    expect(run.results).toMatchObject({ delivered: 4, ...results });
  });

  it('handles it with each attempt if it is unknown, and other unknown senders are answered with 202', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { successStatus: { unknown: 202 } },
      service: { meanMs: 10 },
      senders: [{ profile: strict, recognized: false }],
    });
    expect(results).toMatchObject({
      delivered: 4,
      attemptsPerEvent: 7,
      inbox: { acknowledged: 0, handledTwice: 4 },
    });
    expect(results.perKey['default']).toMatchObject({ handledAgain: 24 });
  });

  it('gives a sender Retry-After in its unit', async () => {
    const hasty = { ...strict, retryAfter: { unit: 'ms' }, retries: { scheduleS: [1], windowS: 3600 } };
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 1, capacity: 2 },
      senders: [{ profile: hasty }],
    });
    expect(results).toMatchObject({ delivered: 4, lost: 0 });
    // Read as seconds it would be an hour.
    expect(results.clearS).toBeLessThan(60);
  });

  it('stops attempts at a disabled endpoint', async () => {
    const { results } = await simulate({
      ...small,
      inbox: { concurrency: 1, capacity: 1, statusCode: 503 },
      arrivals: [{ fromS: 0, toS: 0.9, perSecond: 10 }],
      senders: [{ profile: { ...strict, retries: 'none', switchOff: { inARow: 3 } } }],
    });
    expect(results.perKey['strict']).toMatchObject({ delivered: 1, lost: 8, refused: 3, switchedOff: 1 });
  });

  it('is the same for the same seed', async () => {
    const busy = {
      ...small,
      seed: 3,
      inbox: { concurrency: 2, capacity: 20, commitMs: 3 },
      service: { meanMs: 100, distribution: 'exponential' },
      arrivals: [{ fromS: 0, toS: 10, perSecond: 40, process: 'poisson' }],
      senders: [
        { key: 'shop', retry: 'retry-after', timeoutMs: 1000 },
        { key: 'bank', retry: 'exponential:1:1:1', identified: false, maxAttempts: 2 },
      ],
    };
    const [first, second] = [await simulate(busy), await simulate(busy)];
    expect(first.results).toEqual(second.results);
    expect(first.results.lost).toBeGreaterThan(0);
  });
});

describe('a scenario with an inbox', () => {
  it.each<[object, string]>([
    [{ mode: 'both' }, 'mode must be one of "hold", "inbox", but was "both".'],
    [
      { intake: { concurrency: 2 } },
      'intake must be absent in mode "inbox": its options are those of inbox.',
    ],
    [{ mode: 'hold' }, 'inbox must be absent in mode "hold": its options are those of intake.'],
    [
      { inbox: { commitMs: -1 } },
      'inbox.commitMs must be a number of milliseconds from 0 to 10000, but was -1.',
    ],
    [{ policy: 'queue' }, 'policy must be "intake" in mode "inbox", but was "queue".'],
    [{ process: {} }, 'process must be absent in mode "inbox", because an inbox is simulated without it.'],
    [
      { fleet: { receivers: 2 } },
      'fleet must be absent in mode "inbox", because an inbox is simulated without it.',
    ],
    [
      { senders: [{ key: 'shop', retry: 'none', delivery: { priority: 'critical' } }] },
      'senders[0].delivery.priority must be absent in mode "inbox", whose deliveries have none, but was "critical".',
    ],
  ])('is refused with one sentence: %j', async (change, sentence) => {
    await expect(simulate({ ...small, ...change })).rejects.toThrow(new ScenarioError(sentence));
  });

  it('is refused with the sentence of the inbox for a wrong option', async () => {
    await expect(simulate({ ...small, inbox: { capacity: 0 } })).rejects.toThrow(
      /^inbox\.capacity must be an integer of at least 1, but was 0\./,
    );
  });

  it('lists the known options for an unknown one', async () => {
    await expect(simulate({ ...small, inbox: { capasity: 5 } })).rejects.toThrow(
      /^inbox\.capasity is not a field of a scenario; known here: commitMs, capacity, /,
    );
  });
});
