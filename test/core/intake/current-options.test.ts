import { createIntake, type Tunable } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';

const DEFAULTS = {
  capacity: 1000,
  highWaterMark: 0.8,
  lowWaterMark: 0.5,
  concurrency: 10,
  maxConcurrencyPerKey: null,
  maxStartsPerSecond: null,
  maxWaitMs: 10_000,
  maxHandlingMs: 60_000,
  overflow: 'refuse',
  statusCode: 'auto',
  retryAfter: { strategy: 'booked', minSeconds: 1, maxSeconds: 3600 },
  shed: [],
};

const CHANGES: Tunable = {
  capacity: 50,
  concurrency: { initial: 2, min: 1, max: 5 },
  maxConcurrencyPerKey: 0.5,
  maxStartsPerSecond: { min: 1, max: 10, targetP99Ms: 100 },
  retryAfter: { maxSeconds: 60 },
  shed: { noisy: true, quiet: false },
};

describe('the options in a snapshot', () => {
  it('are complete without any given', () => {
    expect(createIntake().snapshot().options).toEqual(DEFAULTS);
  });

  it('are those in force after an update, and stay in older snapshots', () => {
    const intake = createIntake({ capacity: 10 });
    const before = intake.snapshot();
    intake.update(CHANGES);
    expect(intake.snapshot().options).toEqual({
      ...DEFAULTS,
      ...CHANGES,
      shed: ['noisy'],
      retryAfter: { ...DEFAULTS.retryAfter, maxSeconds: 60 },
    });
    expect(before.options).toEqual({ ...DEFAULTS, capacity: 10 });
  });

  it('are unchanged by an update that throws', () => {
    const intake = createIntake();
    expect(() => {
      intake.update({ capacity: 5, maxWaitMs: -1 });
    }).toThrow(expect.objectContaining({ code: 'ERR_WBP_MAX_WAIT' }));
    expect(intake.snapshot().options).toEqual(DEFAULTS);
  });

  it('do not change with an object of the caller, and cannot be changed', () => {
    const concurrency = { initial: 2, min: 1, max: 5 };
    const { options } = createIntake({ concurrency }).snapshot();
    concurrency.max = 99;
    expect(options.concurrency).toEqual({ initial: 2, min: 1, max: 5 });
    expect(() => Object.assign(options, { capacity: 1 })).toThrow(TypeError);
    expect(() => Object.assign(options.retryAfter, { maxSeconds: 1 })).toThrow(TypeError);
  });

  it('survive JSON', () => {
    const intake = createIntake({ ...CHANGES, maxStartsPerSecond: 5 });
    const { options } = intake.snapshot();
    expect(JSON.parse(JSON.stringify(options))).toEqual(options);
  });
});

describe('the options in a snapshot of an inbox', () => {
  const common = { ...DEFAULTS, capacity: 100_000, maxWaitMs: null };
  const own = {
    retry: { attempts: 21, firstDelayMs: 5000, maxDelayMs: 43_200_000 },
    successStatus: { known: 202, unknown: 200 },
    maxBodyBytes: 1_048_576,
    maxBytes: 1_073_741_824,
    retentionMs: 604_800_000,
    maxRemembered: 1_000_000,
    maxDeadLetters: 100_000,
    maxDeadLetterBytes: 1_073_741_824,
    maxDeadLetterAgeMs: null,
    keepCompletedMs: 0,
    maxKeptBytes: 1_073_741_824,
  };

  it('are complete, and survive JSON', () => {
    const { options } = new InboxBench({ retryAfter: undefined }).inbox.snapshot();
    expect(options).toEqual({ ...common, ...own });
    expect(JSON.parse(JSON.stringify(options))).toEqual(options);
  });

  it('are those in force after an update', () => {
    const { inbox } = new InboxBench({ retryAfter: undefined });
    inbox.update({ maxWaitMs: 5000, overflow: 'dead-letter', retry: { attempts: 3 }, shed: { noisy: true } });
    expect(inbox.snapshot().options).toEqual({
      ...common,
      ...own,
      maxWaitMs: 5000,
      overflow: 'dead-letter',
      shed: ['noisy'],
      retry: { ...own.retry, attempts: 3 },
    });
  });
});
