import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/base';
import { createIntake, type IntakeOptions, type Tunable } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, letIn, occupy, turnedAway } from '../harness.ts';

/** The option and the rule it breaks; how the message shows the value. */
type Wrong = readonly [code: BackpressureErrorCode, options: unknown, shown: string];

function wrongNumbers(code: BackpressureErrorCode, name: string, ...more: [unknown, string][]): Wrong[] {
  const values: [unknown, string][] = [
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [0, '0'],
    [-1, '-1'],
    ['10', 'the string "10"'],
    [null, 'null'],
    [true, 'true'],
    [10n, 'the bigint 10'],
    [[10], 'an array of length 1'],
    [() => 10, 'a function'],
    [Symbol('ten'), 'Symbol(ten)'],
    ...more,
  ];
  return values.map(([value, shown]) => [code, { [name]: value }, shown]);
}

const OBJECTS: [unknown, string][] = [
  [{}, '{}'],
  [Object.create(null), '{}'],
  [{ toJSON: () => undefined }, 'an object'],
  [{ size: 10n }, 'an object'],
];

const WRONG_TUNABLES: Wrong[] = [
  ...wrongNumbers('ERR_WBP_CAPACITY', 'capacity', ...OBJECTS, [1.5, '1.5'], [2 ** 53, '9007199254740992']),
  ...wrongNumbers('ERR_WBP_CONCURRENCY', 'concurrency', [0.5, '0.5'], [2 ** 53, '9007199254740992']),
  ...wrongNumbers(
    'ERR_WBP_MAX_CONCURRENCY_PER_KEY',
    'maxConcurrencyPerKey',
    [1.5, '1.5'],
    [2 ** 53, '9007199254740992'],
  ),
  ...wrongNumbers(
    'ERR_WBP_WATER_MARKS',
    'highWaterMark',
    ...OBJECTS,
    [1.01, '1.01'],
    [0.5, '0.5'],
    [80, '80'],
  ),
  ...wrongNumbers('ERR_WBP_WATER_MARKS', 'lowWaterMark', ...OBJECTS, [0.8, '0.8'], [0.9, '0.9'], [1, '1']),
  ...wrongNumbers(
    'ERR_WBP_MAX_STARTS_PER_SECOND',
    'maxStartsPerSecond',
    [0.0009, '0.0009'],
    [1_000_001, '1000001'],
  ),
  ...wrongNumbers('ERR_WBP_MAX_WAIT', 'maxWaitMs', ...OBJECTS, [0.5, '0.5'], [86_400_001, '86400001']),
  ...wrongNumbers(
    'ERR_WBP_MAX_HANDLING',
    'maxHandlingMs',
    ...OBJECTS,
    [0.5, '0.5'],
    [86_400_001, '86400001'],
  ),
  ['ERR_WBP_WATER_MARKS', { highWaterMark: 0.4, lowWaterMark: 0.6 }, '0.6 and 0.4'],
  ['ERR_WBP_OVERFLOW', { overflow: 'drop-newest' }, '"drop-newest"'],
  ['ERR_WBP_OVERFLOW', { overflow: null }, 'null'],
  ['ERR_WBP_STATUS_CODE', { statusCode: 500 }, '500'],
  ['ERR_WBP_STATUS_CODE', { statusCode: '503' }, 'the string "503"'],
  ['ERR_WBP_STATUS_CODE', { statusCode: Number.NaN }, 'NaN'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: 10 }, '10'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: null }, 'null'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: [] }, 'an array of length 0'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { strategy: 'constant' } }, '"constant"'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { minSeconds: 0 } }, '0'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { minSeconds: 1.5 } }, '1.5'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { maxSeconds: Infinity } }, 'Infinity'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { maxSeconds: '900' } }, '"900"'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { minSeconds: 10, maxSeconds: 9 } }, '9'],
  ['ERR_WBP_RETRY_AFTER', { retryAfter: { minSeconds: 3601 } }, '3600'],
  ['ERR_WBP_SHED', { shed: ['shop'] }, 'an array of length 1'],
  ['ERR_WBP_SHED', { shed: 'shop' }, '"shop"'],
  ['ERR_WBP_SHED', { shed: { shop: 'yes' } }, 'the string "yes"'],
  ['ERR_WBP_SHED', { shed: { shop: 1 } }, '1'],
  ['ERR_WBP_SHED', { shed: null }, 'null'],
  ['ERR_WBP_UNKNOWN_OPTION', { capasity: 5 }, '"capasity"'],
  ['ERR_WBP_UNKNOWN_OPTION', { retryAfter: { seconds: 5 } }, '"seconds"'],
  ['ERR_WBP_UNKNOWN_OPTION', JSON.parse('{"__proto__": 1}'), '"__proto__"'],
];

const WRONG_AT_CONSTRUCTION: Wrong[] = [
  ['ERR_WBP_OPTIONS', null, 'null'],
  ['ERR_WBP_OPTIONS', 5, '5'],
  ['ERR_WBP_OPTIONS', 'capacity', '"capacity"'],
  ['ERR_WBP_OPTIONS', [], 'an array of length 0'],
  ['ERR_WBP_DRY_RUN', { dryRun: 'yes' }, '"yes"'],
  ['ERR_WBP_DRY_RUN', { dryRun: null }, 'null'],
  ['ERR_WBP_CLOCK', { clock: null }, 'null'],
  ['ERR_WBP_CLOCK', { clock: Date }, 'a function'],
  ['ERR_WBP_CLOCK', { clock: { now: () => 0 } }, '{}'],
  ['ERR_WBP_CLOCK', { clock: { now: 0, setTimeout, clearTimeout } }, '{"now":0}'],
  ['ERR_WBP_RANDOM', { random: 0.5 }, '0.5'],
  ['ERR_WBP_RANDOM', { random: null }, 'null'],
];

const NOT_TUNABLE: Wrong[] = [
  ['ERR_WBP_NOT_TUNABLE', { dryRun: true }, 'dryRun'],
  ['ERR_WBP_NOT_TUNABLE', { clock: null }, 'clock'],
  ['ERR_WBP_NOT_TUNABLE', { random: Math.random }, 'random'],
  ['ERR_WBP_OPTIONS', null, 'null'],
  ['ERR_WBP_OPTIONS', undefined, 'undefined'],
  ['ERR_WBP_OPTIONS', [{}], 'an array of length 1'],
];

function errorOf(action: () => unknown): BackpressureError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('nothing was thrown');
}

function namesIn(options: unknown): string[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return [];
  return Object.keys(options);
}

function expectSentence(error: BackpressureError, [code, options, shown]: Wrong): void {
  expect(error.code).toBe(code);
  expect(error.message).toContain(shown);
  expect(error.message).toContain(code);
  expect(error.help).toMatch(new RegExp(`^file:.*/docs/errors\\.md#${code.toLowerCase()}$`));
  expect(error.message).toContain(error.help);
  // The message names both of two marks that contradict each other.
  for (const name of namesIn(options)) expect(error.message).toContain(name);
}

function title([, options, shown]: Wrong): string {
  return [...namesIn(options), shown].join(': ');
}

describe('an invalid option', () => {
  for (const wrong of [...WRONG_TUNABLES, ...WRONG_AT_CONSTRUCTION]) {
    it(`at construction: ${title(wrong)}`, () => {
      expectSentence(
        errorOf(() => createIntake(wrong[1] as IntakeOptions)),
        wrong,
      );
    });
  }

  for (const wrong of [...WRONG_TUNABLES, ...NOT_TUNABLE]) {
    it(`at update, and nothing changes: ${title(wrong)}`, () => {
      const { intake, events } = createBench();
      const before = intake.snapshot();
      expectSentence(
        errorOf(() => {
          intake.update(wrong[1] as Tunable);
        }),
        wrong,
      );
      const isNamed = namesIn(wrong[1]).length > 0;
      const beside = isNamed
        ? { maxWaitMs: 1, concurrency: 1, capacity: 1, ...(wrong[1] as Tunable) }
        : wrong[1];
      errorOf(() => {
        intake.update(beside as Tunable);
      });
      expect(intake.snapshot()).toEqual(before);
      expect(events).toEqual([]);
    });
  }

  it('is checked at update together with the present options', () => {
    const { intake } = createBench({ lowWaterMark: 0.7 });
    const updateError = (options: Tunable): BackpressureError =>
      errorOf(() => {
        intake.update(options);
      });
    expect(updateError({ highWaterMark: 0.6 }).code).toBe('ERR_WBP_WATER_MARKS');
    intake.update({ highWaterMark: 0.6, lowWaterMark: 0.5 });
    intake.update({ retryAfter: { minSeconds: 20 } });
    expect(updateError({ retryAfter: { maxSeconds: 19 } }).code).toBe('ERR_WBP_RETRY_AFTER');
  });

  it('is shortened in the message if it is long', () => {
    const { message } = errorOf(() => createIntake({ overflow: 'x'.repeat(1_000_000) as 'refuse' }));
    expect(message.length).toBeLessThan(300);
  });
});

describe('an option that is undefined', () => {
  it('is absent, at construction and at update', () => {
    const { intake } = createBench({ capacity: undefined, shed: undefined, retryAfter: undefined });
    expect(intake.snapshot()).toMatchObject({
      capacity: 1000,
      highWater: 800,
      lowWater: 500,
      concurrency: 10,
    });
    intake.update({ capacity: 50, retryAfter: { minSeconds: 5, maxSeconds: undefined } });
    intake.update({ capacity: undefined, highWaterMark: undefined });
    expect(intake.snapshot().capacity).toBe(50);
    const unknown: object = { capasity: undefined };
    intake.update(unknown);
    createIntake(unknown);
  });

  it('is absent inside `shed` as well', () => {
    const { intake } = createBench({ shed: { shop: undefined } as unknown as Record<string, boolean> });
    expect(intake.admit({ key: 'shop' }).admitted).toBe(true);
  });
});

describe('the smallest capacities', () => {
  it.each([
    [1, 1, 0],
    [2, 2, 1],
    [3, 3, 1],
  ])('of %i have their marks at %i and %i', (capacity, highWater, lowWater) => {
    const { intake } = createBench({ capacity, concurrency: 1 });
    expect(intake.snapshot()).toMatchObject({ highWater, lowWater, effectiveCapacity: capacity });
    const [first] = occupy(intake);
    const waiting = Array.from({ length: capacity }, () => letIn(intake.admit()));
    expect(turnedAway(intake.admit()).reason).toBe('full');
    expect(intake.snapshot()).toMatchObject({ state: 'shedding', depth: capacity });
    for (const one of waiting.slice(lowWater)) one.leave();
    expect(intake.snapshot()).toMatchObject({ state: 'accepting', depth: lowWater });
    letIn(intake.admit());
    first?.release();
  });
});

describe('shed', () => {
  it('refuses its keys and no others, however long they are, until it is withdrawn', () => {
    const long = 'k'.repeat(1000);
    const { intake } = createBench({ shed: { shop: true, mail: false, [long]: true } });
    expect(turnedAway(intake.admit({ key: 'shop' }))).toMatchObject({ reason: 'shed', status: 503 });
    expect(turnedAway(intake.admit({ key: long })).reason).toBe('shed');
    expect(intake.admit({ key: 'mail' }).admitted).toBe(true);
    expect(intake.admit().admitted).toBe(true);
    intake.update({ shed: {} });
    expect(intake.admit({ key: 'shop' }).admitted).toBe(true);
    expect(intake.snapshot().totals.refused.shed).toBe(2);
  });
});
