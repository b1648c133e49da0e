import type { ConcurrencyRange } from '../limits/limit-range.ts';
import type { RateRange } from '../limits/adaptive-rate.ts';
import { checkInteger, checkNumber, checkOneOf, DAY_MS, isRecord, requireSync } from '../checks.ts';
import { checkConcurrency, checkDrainRate, checkPerKey } from '../limits/limit-options.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { keyOf } from '../delivery/delivery.ts';
import { BackpressureError, invalid, show } from '../errors.ts';
import { checkNames, checkObject } from '../option-names.ts';
import type { RetryAfterSettings } from '../refusals/retry-after.ts';

/** What can be changed while the intake runs. */
export interface Tunable {
  /** How many deliveries may wait. Integer ≥ 1, default 1000. Lowering it below the depth drops nothing. */
  capacity?: number | undefined;
  /** Where shedding begins, as a fraction of the effective capacity: `0 < low < high ≤ 1`. Default 0.8. */
  highWaterMark?: number | undefined;
  /** Where shedding ends, as a fraction of the effective capacity: `0 < low < high ≤ 1`. Default 0.5. */
  lowWaterMark?: number | undefined;
  /**
   * How many deliveries are handled at once. Integer ≥ 1, default 10. Choose what the scarcest resource of the
   * handler allows, such as the size of its database pool. Or `{ initial, min, max }`, integers with
   * 1 ≤ min ≤ initial ≤ max: then it is learned from the handling times.
   */
  concurrency?: number | ConcurrencyRange | undefined;
  /**
   * How many workers one key may have at the same time. Integer ≥ 1, or a fraction of `concurrency`, above 0 and below
   * 1, rounded down and at least one worker. Default none: a key may have all workers while no other key waits, and its
   * slow handlers keep them until they end. A key at its limit waits, and the workers are there for the others.
   */
  maxConcurrencyPerKey?: number | undefined;
  /**
   * At most so many deliveries start per second, evenly spaced. Number from 0.001 to 1,000,000; default none: a
   * delivery starts as soon as a worker is free. Or `{ min, max, targetP99Ms }`: then it goes down while the 99th
   * percentile of the handling time is above the target, in milliseconds, and up again when it is not.
   */
  drainRate?: number | RateRange | undefined;
  /**
   * The longest acceptable wait in the queue, in milliseconds. From 1 to 86,400,000, default 10,000. It sizes the
   * queue (see {@link IntakeSnapshot.effectiveCapacity}), and who has waited so long is refused.
   */
  maxWaitMs?: number | undefined;
  /**
   * How long a delivery may be handled, in milliseconds. From 1 to 86,400,000, default 60,000. A permit held
   * longer is taken back, so that a handler that never ends does not keep its worker.
   */
  maxHandlingMs?: number | undefined;
  /**
   * `refuse` refuses the newest delivery. `drop-oldest` lets it in and refuses the one that has waited longest,
   * for streams whose old items are worthless. Default `refuse`.
   */
  overflow?: 'refuse' | 'drop-oldest' | undefined;
  /**
   * The status of a refusal. `auto` says 429 to a key that takes its share of the workers' time or more, and 503 to
   * everybody else. Default `auto`.
   */
  statusCode?: 'auto' | 429 | 503 | undefined;
  /**
   * How Retry-After is computed. `strategy`: `booked`, the default, gives each refused
   * delivery its own second, so that the retries come at the pace at which they can be taken; `depth` is the time
   * to work off what waits. `minSeconds` and
   * `maxSeconds`: integers, 1 ≤ min ≤ max ≤ 86,400, default 1 and 900. At an update, fields that are absent stay.
   */
  retryAfter?:
    | {
        strategy?: 'booked' | 'depth' | undefined;
        minSeconds?: number | undefined;
        maxSeconds?: number | undefined;
      }
    | undefined;
  /** Break glass: deliveries of the keys that are `true` here are refused. Default none. */
  shed?: Record<string, boolean> | undefined;
}

/** The options of an intake. `undefined` means absent. */
export interface IntakeOptions extends Tunable {
  /** Decide and report, but let everything in at once: for trying options on real traffic. Default false. */
  dryRun?: boolean | undefined;
  /**
   * Whether the process itself is overloaded; asked at each delivery, so it must be cheap. While it says true,
   * deliveries that may not use the reserve are refused. Default never; the node package has one that looks at the
   * event loop and the heap. One that throws says false; one that
   * returns a promise makes each delivery throw `ERR_WBP_PRESSURE`.
   */
  pressure?: (() => boolean) | undefined;
  /** The source of time. Default the runtime's monotonic clock. */
  clock?: Clock | undefined;
  /** The source of chance: numbers from 0 up to, not including, 1. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** The tunable options, complete and valid. */
export interface Settings {
  readonly capacity: number;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly concurrency: number | ConcurrencyRange;
  readonly maxConcurrencyPerKey: number | undefined;
  readonly drainRate: number | RateRange | undefined;
  readonly maxWaitMs: number;
  readonly maxHandlingMs: number;
  readonly overflow: 'refuse' | 'drop-oldest';
  readonly statusCode: 'auto' | 429 | 503;
  readonly retryAfter: RetryAfterSettings;
  readonly shed: ReadonlySet<string>;
}

/** What is fixed at construction. */
export interface Fixtures {
  readonly dryRun: boolean;
  readonly isPressed: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
}

const DEFAULTS: Settings = {
  capacity: 1000,
  highWaterMark: 0.8,
  lowWaterMark: 0.5,
  concurrency: 10,
  maxConcurrencyPerKey: undefined,
  drainRate: undefined,
  maxWaitMs: 10_000,
  maxHandlingMs: 60_000,
  overflow: 'refuse',
  statusCode: 'auto',
  retryAfter: { strategy: 'booked', minSeconds: 1, maxSeconds: 900 },
  shed: new Set(),
};

/** A day: each second that is still ahead may be counted, so their number has to be bounded. */
const MOST_SECONDS = 86_400;
const TUNABLE = Object.keys(DEFAULTS);
const FIXED = ['dryRun', 'pressure', 'clock', 'random'];
const RETRY_AFTER = Object.keys(DEFAULTS.retryAfter);

/**
 * @param beside - names that were taken out of the options before, for the message about one that does not exist.
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function resolveOptions(options: IntakeOptions, beside: readonly string[] = []): Settings & Fixtures {
  checkNames(options, 'options', [...TUNABLE, ...FIXED, ...beside]);
  const { dryRun = false, pressure, clock = systemClock, random = Math.random } = options;
  if (typeof dryRun !== 'boolean') throw invalid('ERR_WBP_DRY_RUN', 'dryRun', 'a boolean', dryRun);
  if (pressure !== undefined && typeof pressure !== 'function') {
    throw invalid('ERR_WBP_PRESSURE', 'pressure', 'a function', pressure);
  }
  if (!isClock(clock)) {
    throw invalid(
      'ERR_WBP_CLOCK',
      'clock',
      'an object with the functions now, setTimeout and clearTimeout',
      clock,
    );
  }
  if (typeof random !== 'function') throw invalid('ERR_WBP_RANDOM', 'random', 'a function', random);
  return { ...settle(DEFAULTS, options), dryRun, isPressed: harmless(pressure), clock, random };
}

/**
 * The settings after an update, or an error and no change at all.
 *
 * @param beside - see {@link resolveOptions}.
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function updateSettings(
  current: Settings,
  changes: Tunable,
  beside: readonly string[] = [],
): Settings {
  checkObject(changes, 'update()');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || !FIXED.includes(name)) continue;
    throw new BackpressureError(
      'ERR_WBP_NOT_TUNABLE',
      `${name} cannot be updated. It is fixed when the intake or inbox is created.`,
    );
  }
  checkNames(changes, 'update()', [...TUNABLE, ...beside]);
  return settle(current, changes);
}

function settle(base: Settings, given: Tunable): Settings {
  const settings: Settings = {
    capacity: or(given.capacity, base.capacity),
    highWaterMark: or(given.highWaterMark, base.highWaterMark),
    lowWaterMark: or(given.lowWaterMark, base.lowWaterMark),
    concurrency: or(given.concurrency, base.concurrency),
    maxConcurrencyPerKey: or(given.maxConcurrencyPerKey, base.maxConcurrencyPerKey),
    drainRate: or(given.drainRate, base.drainRate),
    maxWaitMs: or(given.maxWaitMs, base.maxWaitMs),
    maxHandlingMs: or(given.maxHandlingMs, base.maxHandlingMs),
    overflow: or(given.overflow, base.overflow),
    statusCode: or(given.statusCode, base.statusCode),
    retryAfter: retryAfter(base.retryAfter, given.retryAfter),
    shed: given.shed === undefined ? base.shed : shedKeys(given.shed),
  };
  check(settings);
  return settings;
}

/** A signal that fails says nothing, and must not refuse anybody. */
function harmless(pressure: (() => unknown) | undefined): () => boolean {
  if (pressure === undefined) return () => false;
  return () => {
    let said: unknown;
    try {
      said = pressure();
    } catch {
      return false;
    }
    // Taken for true, a promise would refuse everybody, whatever it comes to.
    return Boolean(requireSync('ERR_WBP_PRESSURE', 'pressure', 'a boolean', said));
  };
}

/** Absent is `undefined` and nothing else: `null` is a mistake, and is reported as one. */
function or<T>(given: T | undefined, base: T): T {
  return given === undefined ? base : given;
}

function retryAfter(base: RetryAfterSettings, given: Tunable['retryAfter']): RetryAfterSettings {
  if (given === undefined) return base;
  checkNames(given, 'retryAfter', RETRY_AFTER, 'ERR_WBP_RETRY_AFTER');
  return {
    strategy: or(given.strategy, base.strategy),
    minSeconds: or(given.minSeconds, base.minSeconds),
    maxSeconds: or(given.maxSeconds, base.maxSeconds),
  };
}

function shedKeys(given: Record<string, boolean>): ReadonlySet<string> {
  if (!isRecord(given)) throw invalid('ERR_WBP_SHED', 'shed', 'an object that maps keys to booleans', given);
  const keys = new Set<string>();
  for (const [key, isShed] of Object.entries(given) as [string, boolean | undefined][]) {
    if (isShed === undefined) continue;
    if (typeof isShed !== 'boolean')
      throw invalid('ERR_WBP_SHED', `shed[${JSON.stringify(key)}]`, 'a boolean', isShed);
    if (isShed) keys.add(keyOf({ key }));
  }
  return keys;
}

function check(settings: Settings): void {
  const { highWaterMark, lowWaterMark } = settings;
  checkInteger('ERR_WBP_CAPACITY', 'capacity', settings.capacity, 1);
  if (!isFraction(highWaterMark) || !isFraction(lowWaterMark) || lowWaterMark >= highWaterMark) {
    throw new BackpressureError(
      'ERR_WBP_WATER_MARKS',
      'lowWaterMark and highWaterMark must be fractions with 0 < lowWaterMark < highWaterMark ≤ 1, ' +
        `but were ${show(lowWaterMark)} and ${show(highWaterMark)}.`,
    );
  }
  checkConcurrency(settings.concurrency);
  checkPerKey(settings.maxConcurrencyPerKey);
  checkDrainRate(settings.drainRate);
  checkNumber('ERR_WBP_MAX_WAIT', 'maxWaitMs', settings.maxWaitMs, 1, DAY_MS, 'milliseconds');
  checkNumber('ERR_WBP_MAX_HANDLING', 'maxHandlingMs', settings.maxHandlingMs, 1, DAY_MS, 'milliseconds');
  checkOneOf('ERR_WBP_OVERFLOW', 'overflow', settings.overflow, ['refuse', 'drop-oldest']);
  checkOneOf('ERR_WBP_STATUS_CODE', 'statusCode', settings.statusCode, ['auto', 429, 503]);
  const { strategy, minSeconds, maxSeconds } = settings.retryAfter;
  checkOneOf('ERR_WBP_RETRY_AFTER', 'retryAfter.strategy', strategy, ['booked', 'depth']);
  checkInteger('ERR_WBP_RETRY_AFTER', 'retryAfter.minSeconds', minSeconds, 1);
  checkInteger(
    'ERR_WBP_RETRY_AFTER',
    'retryAfter.maxSeconds',
    maxSeconds,
    minSeconds,
    ', the value of retryAfter.minSeconds',
  );
  if (maxSeconds > MOST_SECONDS) {
    throw invalid('ERR_WBP_RETRY_AFTER', 'retryAfter.maxSeconds', 'at most 86,400', maxSeconds);
  }
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= 1;
}

function isClock(value: unknown): value is Clock {
  if (!isRecord(value)) return false;
  return ['now', 'setTimeout', 'clearTimeout'].every((name) => typeof value[name] === 'function');
}
