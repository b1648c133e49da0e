import {
  ALARM_DEFAULTS,
  alarmSettings,
  type AlarmOptions,
  type AlarmSettings,
} from '../alarms/alarm-options.ts';
import type { ConcurrencyRange } from '../limits/adaptive-concurrency.ts';
import type { RateRange } from '../limits/adaptive-rate.ts';
import { checkInteger, checkNumber, checkOneOf, DAY_MS, isRecord, requireSync } from '../checks.ts';
import { checkConcurrency, checkDrainRate, checkPerKey } from '../limits/limit-options.ts';
import { checkClock } from '../time/check-clock.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { keyOf } from '../delivery/delivery.ts';
import { BackpressureError, invalid, show } from '../errors.ts';
import { checkNames, checkObject } from '../option-names.ts';
import type { RetryAfterSettings } from '../refusals/situation.ts';

/** The options that can be changed while the intake runs. */
export interface Tunable {
  /** How many deliveries may be queued. Integer ≥ 1, default 1000. A capacity below the depth drops no delivery. */
  capacity?: number | undefined;
  /** Where shedding begins, as a fraction of the effective capacity: `0 < low < high ≤ 1`. Default 0.8. */
  highWaterMark?: number | undefined;
  /**
   * Where shedding ends, as a fraction of the effective capacity: `0 < low < high ≤ 1`, but at most 10 s of work below the
   * high-water mark. Default 0.5.
   */
  lowWaterMark?: number | undefined;
  /**
   * How many deliveries are handled concurrently. Integer ≥ 1, default 10. Choose what the scarcest resource of the
   * handler allows, such as the size of its database pool. Or `{ initial, min, max }`, integers with
   * 1 ≤ min ≤ initial ≤ max: then the limit is learned from the handling times.
   */
  concurrency?: number | ConcurrencyRange | undefined;
  /**
   * How many deliveries of one key are handled concurrently. Integer ≥ 1, or a fraction of `concurrency` above 0 and
   * below 1, rounded down but at least 1. Default none: a key may use all workers while no other key is queued, and its
   * slow handlers keep them until they end.
   */
  maxConcurrencyPerKey?: number | undefined;
  /**
   * How many deliveries start per second at most, evenly spaced. Number from 0.001 to 1,000,000. Default none: a delivery
   * starts as soon as a worker is free. Or `{ min, max, targetP99Ms }`: then the rate falls while the 99th percentile of
   * the handling time is above the target, in milliseconds, and rises while it is not.
   */
  drainRate?: number | RateRange | undefined;
  /**
   * The longest acceptable wait in the queue, in milliseconds. From 1 to 86,400,000, default 10,000. It sizes the queue
   * (see {@link IntakeSnapshot.effectiveCapacity}), and a delivery that has been queued for this long is refused.
   */
  maxWaitMs?: number | undefined;
  /**
   * How long a delivery may be handled, in milliseconds. From 1 to 86,400,000, default 60,000. Then its permit is revoked,
   * so that a handler that never ends does not keep its worker.
   */
  maxHandlingMs?: number | undefined;
  /**
   * `refuse` refuses the newest delivery. `drop-oldest` admits it and refuses the one that has been queued the longest,
   * for streams whose old items are worthless. Default `refuse`.
   */
  overflow?: 'refuse' | 'drop-oldest' | undefined;
  /**
   * The status of a refusal. `auto` is 429 for a key that takes its equal share of the workers' time or more, and 503
   * for all others. Default `auto`.
   */
  statusCode?: 'auto' | 429 | 503 | undefined;
  /**
   * How Retry-After is computed. `strategy`: `booked`, the default, assigns each refused delivery a time to retry, so
   * that retries arrive at the pace at which they can be handled; `depth` is the time to drain the queue, with which more
   * retries are refused again. `minSeconds` and `maxSeconds`: integers, 1 ≤ min ≤ max ≤ 86,400, default 1 and 3,600. An
   * update keeps fields that are absent.
   */
  retryAfter?:
    | {
        strategy?: 'booked' | 'depth' | undefined;
        minSeconds?: number | undefined;
        maxSeconds?: number | undefined;
      }
    | undefined;
  /** Emergency switch: deliveries of keys that are `true` here are refused. Default none. */
  shed?: Record<string, boolean> | undefined;
  /** When alarms are raised; `false` for none. An update keeps fields that are absent. */
  alarms?: false | AlarmOptions | undefined;
}

/** The options of an intake. `undefined` means absent. */
export interface IntakeOptions extends Tunable {
  /** Decides and reports, but admits and starts every delivery immediately: for trying options on real traffic. Default false. */
  dryRun?: boolean | undefined;
  /**
   * Whether the process itself is overloaded. Called for each delivery, so it must be cheap. While it returns true,
   * deliveries that may not use the reserve (the part of the queue above the high-water mark) are refused. An error counts
   * as false; a promise makes `admit` throw `ERR_WBP_PRESSURE`. Default never. The node package has a signal that
   * monitors the event loop and the heap.
   */
  pressure?: (() => boolean) | undefined;
  /** The source of time. Default the monotonic clock of the runtime. */
  clock?: Clock | undefined;
  /** The source of randomness: numbers from 0 up to, but not including, 1. Default `Math.random`. */
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
  readonly alarms: AlarmSettings | false;
}

/** The options that are fixed at construction. */
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
  retryAfter: { strategy: 'booked', minSeconds: 1, maxSeconds: 3600 },
  shed: new Set(),
  alarms: ALARM_DEFAULTS,
};

/** A day. Bookings are counted for each second ahead, so the number of seconds has to be bounded. */
const MOST_SECONDS = 86_400;
const TUNABLE = Object.keys(DEFAULTS);
const FIXED = ['dryRun', 'pressure', 'clock', 'random'];
const RETRY_AFTER = Object.keys(DEFAULTS.retryAfter);

/**
 * @param beside - names of other known options, for the message about an unknown one.
 * @throws BackpressureError with the code of the first invalid option.
 */
export function resolveOptions(options: IntakeOptions, beside: readonly string[] = []): Settings & Fixtures {
  checkNames(options, 'options', [...TUNABLE, ...FIXED, ...beside]);
  const { dryRun = false, pressure, clock = systemClock, random = Math.random } = options;
  if (typeof dryRun !== 'boolean') throw invalid('ERR_WBP_DRY_RUN', 'dryRun', 'a boolean', dryRun);
  if (pressure !== undefined && typeof pressure !== 'function') {
    throw invalid('ERR_WBP_PRESSURE', 'pressure', 'a function', pressure);
  }
  checkClock(clock);
  if (typeof random !== 'function') throw invalid('ERR_WBP_RANDOM', 'random', 'a function', random);
  return { ...settle(DEFAULTS, options), dryRun, isPressed: harmless(pressure), clock, random };
}

/**
 * The settings after an update; an error changes nothing.
 *
 * @param beside - see {@link resolveOptions}.
 * @throws BackpressureError with the code of the first invalid option.
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
    alarms: alarmSettings(ALARM_DEFAULTS, base.alarms, given.alarms),
  };
  check(settings);
  return settings;
}

/** A pressure signal that fails must not refuse any delivery. */
function harmless(pressure: (() => unknown) | undefined): () => boolean {
  if (pressure === undefined) return () => false;
  return () => {
    let isPressed: unknown;
    try {
      isPressed = pressure();
    } catch {
      return false;
    }
    // A promise is truthy, and would refuse all deliveries.
    return Boolean(requireSync('ERR_WBP_PRESSURE', 'pressure', 'a boolean', isPressed));
  };
}

/** Only `undefined` means absent: `null` is a mistake, and is reported. */
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
