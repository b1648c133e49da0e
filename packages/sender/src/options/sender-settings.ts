import {
  alarmSettings,
  invalid,
  isRecord,
  SENDER_ALARM_DEFAULTS,
  checkClock,
  checkInteger,
  checkNames,
  checkNumber,
  checkOneOf,
  DAY_MS,
  isInboxStore,
} from '@webhook-backpressure/core/parts';
import {
  type Awaitable,
  type BackpressureErrorCode,
  type Buckets,
  type Clock,
  type InboxStore,
  systemClock,
  type SenderAlarmSettings,
} from '@webhook-backpressure/core';
import { checkLimits, type LimitDefaults } from './limits.ts';
import type { Endpoint, SenderOptions, SenderRetryOptions } from './sender-options.ts';

/** When failed attempts are retried, complete and checked. */
export interface RetrySettings {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  readonly maxAgeMs: number;
}

/** The options of a sender, complete and checked. */
export interface SenderSettings {
  readonly store: InboxStore;
  readonly endpoint: (id: string) => Awaitable<Endpoint | null>;
  readonly endpointTtlMs: number;
  readonly defaults: LimitDefaults;
  /** Undefined: buckets of this process. */
  readonly buckets: Buckets | undefined;
  readonly retry: RetrySettings;
  readonly timeoutMs: number;
  readonly maxWaitMs: number;
  readonly disableAfterMs: number;
  readonly capacity: number;
  readonly maxBytes: number;
  readonly maxEventBytes: number;
  readonly whenFull: 'wait' | 'refuse';
  readonly retentionMs: number;
  readonly maxShelved: number;
  readonly alarms: SenderAlarmSettings | false;
  readonly allowPrivateAddresses: boolean;
  /** Undefined: undici. */
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wallClock: () => number;
}

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
const NUMBERS = {
  endpointTtlMs: 10_000,
  timeoutMs: 15_000,
  maxWaitMs: DAY_MS,
  disableAfterMs: 5 * DAY_MS,
  capacity: 100_000,
  maxBytes: 1024 * 1024 * 1024,
  maxEventBytes: 1024 * 1024,
  retentionMs: 7 * DAY_MS,
  maxShelved: 100_000,
};
const OTHERS = [
  ...['store', 'endpoint', 'defaults', 'buckets', 'retry', 'whenFull', 'allowPrivateAddresses', 'fetch'],
  ...['alarms', 'clock', 'random', 'wallClock'],
];
const NAMES = [...Object.keys(NUMBERS), ...OTHERS];
const STORE_CALLS = ['open', 'put', 'stats', 'close'];
const BUCKET_CALLS = ['take', 'giveBack', 'pause', 'peek', 'forget'];

/**
 * The options of a sender, complete and checked.
 *
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function settle(options: SenderOptions): SenderSettings {
  checkNames(options, 'options', NAMES);
  const { store, endpoint, buckets, fetch } = options;
  const { whenFull = 'wait', allowPrivateAddresses = false } = options;
  const { clock = systemClock, random = Math.random, wallClock = Date.now } = options;
  checkStore(store);
  checkFunction('ERR_WBP_ENDPOINT', 'endpoint', endpoint);
  checkBuckets(buckets);
  checkOneOf('ERR_WBP_WHEN_FULL', 'whenFull', whenFull, ['wait', 'refuse']);
  if (typeof (allowPrivateAddresses as unknown) !== 'boolean')
    throw invalid('ERR_WBP_PRIVATE_ADDRESSES', 'allowPrivateAddresses', 'a boolean', allowPrivateAddresses);
  if (fetch !== undefined) checkFunction('ERR_WBP_FETCH', 'fetch', fetch);
  checkClock(clock);
  checkFunction('ERR_WBP_RANDOM', 'random', random);
  checkFunction('ERR_WBP_CLOCK', 'wallClock', wallClock);
  return {
    ...{ store, endpoint, buckets, whenFull, allowPrivateAddresses, fetch, clock, random, wallClock },
    ...numbersOf(options),
    retry: retryOf(options.retry),
    defaults: checkLimits(options.defaults),
    alarms: alarmSettings<SenderAlarmSettings>(SENDER_ALARM_DEFAULTS, SENDER_ALARM_DEFAULTS, options.alarms),
  };
}

function numbersOf(options: SenderOptions): typeof NUMBERS {
  const numbers = { ...NUMBERS };
  for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]) {
    const given = options[name];
    if (given !== undefined) numbers[name] = given;
  }
  const { capacity, maxBytes, maxEventBytes, maxShelved } = numbers;
  checkMs('ERR_WBP_ENDPOINT', 'endpointTtlMs', numbers.endpointTtlMs, 0, DAY_MS);
  checkMs('ERR_WBP_TIMEOUT', 'timeoutMs', numbers.timeoutMs, 1, 10 * MINUTE_MS);
  checkMs('ERR_WBP_MAX_WAIT', 'maxWaitMs', numbers.maxWaitMs, 1000, 30 * DAY_MS);
  checkMs('ERR_WBP_DISABLE_AFTER', 'disableAfterMs', numbers.disableAfterMs, MINUTE_MS, YEAR_MS);
  checkInteger('ERR_WBP_CAPACITY', 'capacity', capacity, 1);
  if (!Number.isSafeInteger(maxEventBytes) || maxEventBytes < 1 || maxEventBytes > MAX_EVENT_BYTES)
    throw invalid('ERR_WBP_MAX_BODY', 'maxEventBytes', 'an integer from 1 to 16,777,216', maxEventBytes);
  checkInteger('ERR_WBP_MAX_BYTES', 'maxBytes', maxBytes, 1);
  checkMs('ERR_WBP_RETENTION', 'retentionMs', numbers.retentionMs, 0, YEAR_MS);
  checkInteger('ERR_WBP_MAX_SHELVED', 'maxShelved', maxShelved, 1);
  return numbers;
}

function retryOf(given: SenderRetryOptions | undefined): RetrySettings {
  if (given === undefined) return RETRY;
  checkNames(given, 'retry', Object.keys(RETRY), 'ERR_WBP_RETRY');
  const { attempts = RETRY.attempts, firstDelayMs = RETRY.firstDelayMs } = given;
  const { maxDelayMs = Math.max(RETRY.maxDelayMs, firstDelayMs), maxAgeMs = RETRY.maxAgeMs } = given;
  checkInteger('ERR_WBP_RETRY', 'retry.attempts', attempts, 1);
  checkMs('ERR_WBP_RETRY', 'retry.firstDelayMs', firstDelayMs, 0, DAY_MS);
  checkMs('ERR_WBP_RETRY', 'retry.maxDelayMs', maxDelayMs, firstDelayMs, 7 * DAY_MS);
  checkMs('ERR_WBP_RETRY', 'retry.maxAgeMs', maxAgeMs, 1, YEAR_MS);
  return { attempts, firstDelayMs, maxDelayMs, maxAgeMs };
}

function checkStore(store: InboxStore): void {
  if (has(store, STORE_CALLS) && isInboxStore(store)) return;
  const rule =
    'a store that workers can use, such as memoryStore(), sqliteStore({ path }) or postgresStore()';
  throw invalid('ERR_WBP_STORE', 'store', rule, store);
}

function checkBuckets(buckets: Buckets | undefined): void {
  if (buckets === undefined || has(buckets, BUCKET_CALLS)) return;
  throw invalid('ERR_WBP_BUCKETS', 'buckets', 'what redisBuckets() returns', buckets);
}

function checkFunction(code: BackpressureErrorCode, option: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid(code, option, 'a function', value);
}

function checkMs(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  min: number,
  max: number,
): void {
  checkNumber(code, option, value, min, max, 'milliseconds');
}

function has(value: unknown, calls: readonly string[]): boolean {
  return isRecord(value) && calls.every((call) => typeof value[call] === 'function');
}
