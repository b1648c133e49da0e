import { alarmSettings, SENDER_ALARM_DEFAULTS } from '@webhook-backpressure/core/extend';
import {
  by,
  checkBoolean,
  checkClock,
  checkFunction,
  checkInteger,
  checkNames,
  checkNumber,
  checkOneOf,
  type Complete,
  DAY_MS,
  invalid,
  isRecord,
  milliseconds,
  resolve,
  type Rows,
  systemClock,
} from '@webhook-backpressure/base';
import { isInboxStore } from '@webhook-backpressure/inbox/store';
import type { Buckets } from '@webhook-backpressure/fleet';
import type { InboxStore } from '@webhook-backpressure/inbox';
import type { SenderAlarmSettings } from '@webhook-backpressure/core';
import { checkLimits, type LimitDefaults } from './limits.ts';
import type { EndpointLimits, SenderOptions, SenderRetryOptions } from './sender-options.ts';

/** When failed attempts are retried, complete and checked. */
export type RetrySettings = Complete<SenderRetryOptions>;

/** The options whose settings are of another type. */
interface Kept {
  readonly defaults: LimitDefaults;
  /** Undefined: buckets of this process. */
  readonly buckets: Buckets | undefined;
  readonly retry: RetrySettings;
  readonly alarms: SenderAlarmSettings | false;
  /** Undefined: undici. */
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** The options of a sender, complete and checked. */
export type SenderSettings = Omit<Complete<SenderOptions>, keyof Kept> & Kept;

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * DAY_MS;
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** From 5 s, doubling to 6 h: twenty attempts take up to 3 days, and the oldest events are 5 days old. */
const RETRY: RetrySettings = {
  attempts: 20,
  firstDelayMs: 5000,
  maxDelayMs: 6 * 60 * MINUTE_MS,
  maxAgeMs: 5 * DAY_MS,
};
const STORE_CALLS = ['open', 'put', 'stats', 'close'];
const BUCKET_CALLS = ['take', 'giveBack', 'pause', 'peek', 'forget'];

const ROWS: Rows<SenderSettings, SenderOptions> = {
  store: { check: checkStore },
  endpoint: { check: by(checkFunction, 'ERR_WBP_ENDPOINT') },
  endpointTtlMs: { default: 10_000, check: milliseconds('ERR_WBP_ENDPOINT', 0, DAY_MS) },
  defaults: { default: checkLimits(), read: (given) => checkLimits(given as EndpointLimits) },
  buckets: { default: undefined, check: checkBuckets },
  retry: { default: RETRY, read: (given) => retryOf(given as SenderRetryOptions) },
  timeoutMs: { default: 15_000, check: milliseconds('ERR_WBP_TIMEOUT', 1, 10 * MINUTE_MS) },
  maxWaitMs: { default: DAY_MS, check: milliseconds('ERR_WBP_MAX_WAIT', 1000, 30 * DAY_MS) },
  disableAfterMs: { default: 5 * DAY_MS, check: milliseconds('ERR_WBP_DISABLE_AFTER', MINUTE_MS, YEAR_MS) },
  capacity: { default: 100_000, check: by(checkInteger, 'ERR_WBP_CAPACITY', 1) },
  maxBytes: { default: 1024 * 1024 * 1024, check: by(checkInteger, 'ERR_WBP_MAX_BYTES', 1) },
  maxEventBytes: { default: 1024 * 1024, check: checkEventBytes },
  whenFull: { default: 'wait', check: by(checkOneOf, 'ERR_WBP_WHEN_FULL', ['wait', 'refuse']) },
  retentionMs: { default: 7 * DAY_MS, check: milliseconds('ERR_WBP_RETENTION', 0, YEAR_MS) },
  maxShelved: { default: 100_000, check: by(checkInteger, 'ERR_WBP_MAX_SHELVED', 1) },
  alarms: {
    default: SENDER_ALARM_DEFAULTS,
    read: (given, _name, present) => alarmSettings(SENDER_ALARM_DEFAULTS, present, given),
  },
  allowPrivateAddresses: { default: false, check: by(checkBoolean, 'ERR_WBP_PRIVATE_ADDRESSES') },
  fetch: { default: undefined, check: by(checkFunction, 'ERR_WBP_FETCH') },
  clock: { default: systemClock, check: checkClock },
  // A test of an application may replace `Math.random` or `Date.now` after this module has been loaded.
  random: { default: () => Math.random(), check: by(checkFunction, 'ERR_WBP_RANDOM') },
  wallClock: { default: () => Date.now(), check: by(checkFunction, 'ERR_WBP_CLOCK') },
};

/**
 * The options of a sender, complete and checked.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function settle(options: SenderOptions): SenderSettings {
  return resolve(ROWS, options);
}

function retryOf(given: SenderRetryOptions): RetrySettings {
  checkNames(given, 'retry', Object.keys(RETRY), 'ERR_WBP_RETRY');
  const { attempts = RETRY.attempts, firstDelayMs = RETRY.firstDelayMs } = given;
  const { maxDelayMs = Math.max(RETRY.maxDelayMs, firstDelayMs), maxAgeMs = RETRY.maxAgeMs } = given;
  checkInteger('ERR_WBP_RETRY', 'retry.attempts', attempts, 1);
  checkMs('retry.firstDelayMs', firstDelayMs, 0, DAY_MS);
  checkMs('retry.maxDelayMs', maxDelayMs, firstDelayMs, 7 * DAY_MS);
  checkMs('retry.maxAgeMs', maxAgeMs, 1, YEAR_MS);
  return { attempts, firstDelayMs, maxDelayMs, maxAgeMs };
}

function checkMs(option: string, value: unknown, min: number, max: number): void {
  checkNumber('ERR_WBP_RETRY', option, value, min, max, 'milliseconds');
}

function checkStore(store: unknown): void {
  if (has(store, STORE_CALLS) && isInboxStore(store as InboxStore)) return;
  const rule =
    'a store that workers can use, such as memoryStore(), sqliteStore({ path }) or postgresStore()';
  throw invalid('ERR_WBP_STORE', 'store', rule, store);
}

function checkBuckets(buckets: unknown): void {
  if (!has(buckets, BUCKET_CALLS))
    throw invalid('ERR_WBP_BUCKETS', 'buckets', 'what redisBuckets() returns', buckets);
}

function checkEventBytes(given: unknown): void {
  if (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= MAX_EVENT_BYTES) return;
  throw invalid('ERR_WBP_MAX_BODY', 'maxEventBytes', 'an integer from 1 to 16,777,216', given);
}

function has(value: unknown, calls: readonly string[]): boolean {
  return isRecord(value) && calls.every((call) => typeof value[call] === 'function');
}
