import {
  BackpressureError,
  by,
  checkBoolean,
  checkClock,
  checkFunction,
  checkInteger,
  checkOneOf,
  type Clock,
  type Complete,
  current,
  DAY_MS,
  group,
  invalid,
  isRecord,
  milliseconds,
  requireSync,
  resolve,
  type Rows,
  type SettingsOf,
  show,
  systemClock,
  update,
} from '@webhook-backpressure/base';
import type { CurrentOptions } from '../delivery/current-options.ts';
import { keyOf } from '../delivery/delivery.ts';
import type { RateRange } from '../limits/adaptive-rate.ts';
import { checkPerKey, concurrencyOf, maxStartsOf } from '../limits/limits.ts';
import type { ConcurrencyRange } from '../limits/adaptive-concurrency.ts';
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
  maxStartsPerSecond?: number | RateRange | undefined;
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
   * The status of a refusal. `auto` is 429 for a key that holds an equal share of the queue or more, and 503 for all
   * others. Default `auto`.
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
export type Settings = SettingsOf<CurrentOptions>;

type Fixed = Omit<IntakeOptions, keyof Tunable>;
/** The options that are fixed at construction, complete and valid. */
export type Fixtures = Complete<Fixed>;

/** A day. Bookings are counted for each second ahead, so the number of seconds has to be bounded. */
const MAX_SECONDS = 86_400;
const RETRY_AFTER = 'ERR_WBP_RETRY_AFTER';

export const TUNABLE: Rows<Settings, Tunable> = {
  capacity: { default: 1000, check: by(checkInteger, 'ERR_WBP_CAPACITY', 1) },
  // Checked together.
  highWaterMark: { default: 0.8 },
  lowWaterMark: { default: 0.5 },
  concurrency: { default: 10, read: concurrencyOf },
  maxConcurrencyPerKey: { default: undefined, check: checkPerKey },
  maxStartsPerSecond: { default: undefined, read: maxStartsOf },
  maxWaitMs: { default: 10_000, check: milliseconds('ERR_WBP_MAX_WAIT', 1, DAY_MS) },
  maxHandlingMs: { default: 60_000, check: milliseconds('ERR_WBP_MAX_HANDLING', 1, DAY_MS) },
  overflow: { default: 'refuse', check: by(checkOneOf, 'ERR_WBP_OVERFLOW', ['refuse', 'drop-oldest']) },
  statusCode: { default: 'auto', check: by(checkOneOf, 'ERR_WBP_STATUS_CODE', ['auto', 429, 503]) },
  retryAfter: group<RetryAfterSettings>(
    RETRY_AFTER,
    {
      strategy: { default: 'booked', check: by(checkOneOf, RETRY_AFTER, ['booked', 'depth']) },
      minSeconds: { default: 1, check: by(checkInteger, RETRY_AFTER, 1) },
      maxSeconds: { default: 3600 },
    },
    ({ minSeconds, maxSeconds }) => {
      const why = ', the value of retryAfter.minSeconds';
      checkInteger(RETRY_AFTER, 'retryAfter.maxSeconds', maxSeconds, minSeconds, why);
      if (maxSeconds > MAX_SECONDS)
        throw invalid(RETRY_AFTER, 'retryAfter.maxSeconds', 'at most 86,400', maxSeconds);
    },
  ),
  shed: { default: new Set(), read: shedKeys },
};

export const FIXED: Rows<Fixtures, Fixed> = {
  dryRun: { default: false, check: by(checkBoolean, 'ERR_WBP_DRY_RUN') },
  pressure: { default: () => false, read: harmless },
  clock: { default: systemClock, check: checkClock },
  // A test of an application may replace `Math.random` after this module has been loaded.
  random: { default: () => Math.random(), check: by(checkFunction, 'ERR_WBP_RANDOM') },
};

/**
 * @param beside - names of other known options, for the message about an unknown one.
 * @throws BackpressureError with the code of the first invalid option.
 */
export function resolveOptions(options: IntakeOptions, beside: readonly string[] = []): Settings & Fixtures {
  return checkMarks(resolve<Settings & Fixtures>({ ...TUNABLE, ...FIXED }, options, beside));
}

/**
 * The settings after an update; an error changes nothing.
 *
 * @throws BackpressureError with the code of the first invalid option.
 */
export function updateSettings(present: Settings, changes: Tunable): Settings {
  return checkMarks(update(TUNABLE, FIXED, present, changes));
}

export function currentOptions(settings: Settings): CurrentOptions {
  return current<CurrentOptions>(TUNABLE, settings);
}

/** @throws BackpressureError `ERR_WBP_WATER_MARKS` */
export function checkMarks<S extends Pick<Settings, 'highWaterMark' | 'lowWaterMark'>>(settings: S): S {
  const { highWaterMark, lowWaterMark } = settings;
  if (isFraction(highWaterMark) && isFraction(lowWaterMark) && lowWaterMark < highWaterMark) return settings;
  throw new BackpressureError(
    'ERR_WBP_WATER_MARKS',
    'lowWaterMark and highWaterMark must be fractions with 0 < lowWaterMark < highWaterMark ≤ 1, ' +
      `but were ${show(lowWaterMark)} and ${show(highWaterMark)}.`,
  );
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= 1;
}

/** A pressure signal that fails must not refuse any delivery. */
function harmless(pressure: unknown, name: string): () => boolean {
  checkFunction('ERR_WBP_PRESSURE', name, pressure);
  return () => {
    let isPressed: unknown;
    try {
      isPressed = (pressure as () => unknown)();
    } catch {
      return false;
    }
    // A promise is truthy, and would refuse all deliveries.
    return Boolean(requireSync('ERR_WBP_PRESSURE', name, 'a boolean', isPressed));
  };
}

function shedKeys(given: unknown, name: string): ReadonlySet<string> {
  if (!isRecord(given)) throw invalid('ERR_WBP_SHED', name, 'an object that maps keys to booleans', given);
  const keys = new Set<string>();
  for (const [key, isShed] of Object.entries(given)) {
    if (isShed === undefined) continue;
    checkBoolean('ERR_WBP_SHED', `${name}[${JSON.stringify(key)}]`, isShed);
    if (isShed === true) keys.add(keyOf({ key }));
  }
  return keys;
}
