import { describe, expect, it } from 'vitest';
import type { Permit } from '@webhook-backpressure/core';
import {
  createBench,
  expectBalance,
  letIn,
  occupy,
  reactions,
  startedLater,
  startedNow,
  turnedAway,
  typesOf,
} from '../harness.ts';

const shop = { key: 'shop', sender: undefined };

describe('a delivery', () => {
  it('starts immediately, without a promise, if a worker is free and the queue is empty', () => {
    const { intake, events } = createBench({ concurrency: 2 });
    const permit = startedNow(intake.admit({ key: 'shop' }));
    expect(permit).toMatchObject({ admitted: true, waitedMs: 0 });
    expect(events).toEqual([{ type: 'started', ...shop, sequence: 1, waitedMs: 0, at: 0 }]);
    startedNow(intake.admit());
    expect(letIn(intake.admit()).permit).toBeInstanceOf(Promise);
  });

  it('that is queued gets its permit in its turn, with the time it has waited', async () => {
    const { intake, clock, events } = createBench({ concurrency: 1 });
    const first = startedNow(intake.admit());
    const second = letIn(intake.admit({ key: 'shop' }));
    clock.advance(250);
    first.release();
    const permit = await startedLater(second);
    expect(permit.waitedMs).toBe(250);
    clock.advance(40);
    permit.release('failure');
    const other = { key: 'default', sender: undefined, sequence: 1 };
    expect(events.slice(1)).toEqual([
      { type: 'queued', ...shop, sequence: 2, at: 0 },
      { type: 'completed', ...other, tookMs: 250, outcome: 'success', at: 250 },
      { type: 'started', ...shop, sequence: 2, waitedMs: 250, at: 250 },
      { type: 'completed', ...shop, sequence: 2, tookMs: 40, outcome: 'failure', at: 290 },
    ]);
    expect(intake.snapshot().totals).toMatchObject({ admitted: 2, started: 2, completed: 1, failed: 1 });
  });

  it('stays queued however often its permit is read', async () => {
    const { intake } = createBench({ concurrency: 1 });
    const [first] = occupy(intake);
    const waiting = letIn(intake.admit());
    expect(waiting.permit).toBe(waiting.permit);
    first?.release();
    const permit = await waiting.permit;
    expect(await waiting.permit).toBe(permit);
  });

  it('is released once, however often release is called', () => {
    const { intake } = createBench({ concurrency: 2 });
    const [permit] = occupy(intake) as [Permit, Permit];
    permit.release('failure');
    permit.release('success');
    permit.release();
    expect(intake.snapshot()).toMatchObject({ active: 1, totals: { completed: 0, failed: 1 } });
    startedNow(intake.admit());
    expect(letIn(intake.admit()).permit).toBeInstanceOf(Promise);
  });

  it('that leaves is removed from the middle of the queue, and does not start', async () => {
    const { intake, events } = createBench({ concurrency: 1 });
    const [first] = occupy(intake);
    const order: string[] = [];
    const waiting = ['a', 'b', 'c'].map((name) => {
      const admission = letIn(intake.admit());
      void Promise.resolve(admission.permit).then(({ admitted }) =>
        order.push(`${name} ${String(admitted)}`),
      );
      return admission;
    });
    waiting[1]?.leave();
    waiting[1]?.leave();
    expect(intake.snapshot().depth).toBe(2);
    first?.release();
    await reactions();
    waiting[0]?.leave();
    expect(intake.snapshot()).toMatchObject({ depth: 1, active: 1, totals: { withdrawn: { abandoned: 1 } } });
    expect(order).toEqual(['b false', 'a true']);
    const queued = ['queued', 'queued', 'queued'];
    expect(typesOf(events)).toEqual(['started', ...queued, 'withdrawn', 'completed', 'started']);
    expectBalance(intake.snapshot());
  });

  it('that has not started cannot be released, and one that has started cannot leave', async () => {
    const { intake } = createBench({ concurrency: 1 });
    const running = letIn(intake.admit());
    const waiting = letIn(intake.admit());
    running.leave();
    expect(intake.snapshot()).toMatchObject({ active: 1, depth: 1 });
    waiting.leave();
    turnedAway(await waiting.permit);
    expect(intake.snapshot()).toMatchObject({ active: 1, depth: 0, totals: { completed: 0, failed: 0 } });
  });
});

describe('a delivery with a shorter sender timeout', () => {
  /** A known drain rate of ten per second; one delivery is being handled. */
  function measured(): ReturnType<typeof createBench> & { release: () => void } {
    const bench = createBench({ concurrency: 1, maxWaitMs: 5000 });
    for (let i = 0; i < 60; i += 1) {
      const permit = startedNow(bench.intake.admit());
      bench.clock.advance(100);
      permit.release();
    }
    const [permit] = occupy(bench.intake);
    expect(bench.intake.snapshot().drainRate).toBeCloseTo(10, 0);
    return { ...bench, release: () => permit?.release() };
  }

  it('is refused immediately if its predicted wait is longer', () => {
    const { intake } = measured();
    for (let i = 0; i < 9; i += 1) letIn(intake.admit());
    const predictedMs = (10 / (intake.snapshot().drainRate as number)) * 1000;
    expect(turnedAway(intake.admit({ maxWaitMs: predictedMs - 1 }))).toMatchObject({
      reason: 'wait',
      status: 503,
    });
    letIn(intake.admit({ maxWaitMs: predictedMs + 1 }));
    expect(intake.snapshot().totals.refused.wait).toBe(1);
  });

  it('is not refused by a guess while the drain rate is unknown', () => {
    const { intake } = createBench({ concurrency: 1 });
    occupy(intake);
    letIn(intake.admit({ maxWaitMs: 1 }));
  });

  it('starts immediately if it can, even with a longest wait of 0', () => {
    const { intake } = createBench({ concurrency: 1 });
    startedNow(intake.admit({ maxWaitMs: 0 }));
  });

  it('is refused after the shorter of both times', async () => {
    const { intake, clock } = measured();
    const short = letIn(intake.admit({ maxWaitMs: 700 }));
    const long = letIn(intake.admit({ maxWaitMs: 60_000 }));
    clock.advance(699);
    expect(intake.snapshot().depth).toBe(2);
    clock.advance(101);
    expect(turnedAway(await short.permit).reason).toBe('wait');
    clock.advance(4199);
    expect(intake.snapshot().depth).toBe(1);
    clock.advance(101);
    expect(turnedAway(await long.permit).reason).toBe('wait');
    expect(intake.snapshot().totals.withdrawn.expired).toBe(2);
  });

  it('never starts after its time, even if a worker becomes free before the timer', async () => {
    const { intake, clock, release } = measured();
    const late = letIn(intake.admit({ maxWaitMs: 701 }));
    const next = letIn(intake.admit());
    clock.advance(701);
    expect(intake.snapshot().depth).toBe(2);
    release();
    expect(turnedAway(await late.permit).reason).toBe('wait');
    expect((await startedLater(next)).waitedMs).toBe(701);
  });
});

describe('keys', () => {
  const long = 'k'.repeat(1_000_000);

  it.each(['__proto__', 'constructor', 'toString', '', 'default', 'with "quotes"', '\u{1f4e6}\n', long])(
    'are strings and nothing else (case %#)',
    async (key) => {
      const { intake, clock } = createBench({ concurrency: 1, capacity: 5, maxWaitMs: 500 });
      const [permit] = occupy(intake, key);
      const admissions = [letIn(intake.admit({ key })), letIn(intake.admit({ key: 'other' }))];
      expect(intake.snapshot()).toMatchObject({ depth: 2, keys: 2 });
      permit?.release();
      (await startedLater(admissions[0] as (typeof admissions)[0])).release();
      (await startedLater(admissions[1] as (typeof admissions)[0])).release();
      intake.update({ shed: Object.fromEntries([[key, true]]) });
      expect(turnedAway(intake.admit({ key })).reason).toBe('shed');
      expect(intake.admit({ key: 'other' }).admitted).toBe(true);
      clock.advance(100);
      expect(intake.snapshot()).toMatchObject({ depth: 0, keys: 0 });
    },
  );

  it('longer than 256 characters are hashed, and stay different', () => {
    const { intake, events } = createBench();
    const keys = [long, `${long}x`, `x${long}`, 'k'.repeat(257), 'k'.repeat(256)];
    for (const key of keys) startedNow(intake.admit({ key }));
    const told = events.map((event) => ('key' in event ? event.key : ''));
    expect(new Set(told).size).toBe(keys.length);
    expect(told.every((key) => key.length <= 256)).toBe(true);
    expect(told.at(-1)).toBe('k'.repeat(256));
  });

  it('that are invented endlessly are all forgotten', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 10 });
    occupy(intake);
    for (let i = 0; i < 20_000; i += 1) {
      const result = intake.admit({ key: `invented ${String(i)}` });
      if (result.admitted) result.leave();
    }
    expect(intake.snapshot()).toMatchObject({ depth: 0, keys: 0, active: 1 });
    expectBalance(intake.snapshot());
  });
});
