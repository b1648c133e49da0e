import {
  by,
  checkBoolean,
  checkClock,
  checkFunction,
  checkInteger,
  checkNames,
  checkNumber,
  checkOneOf,
  type Clock,
  type Complete,
  DAY_MS,
  invalid,
  milliseconds,
  resolve,
  type Rows,
  systemClock,
} from '@webhook-backpressure/base';
import type { Awaitable, InboxStore } from '@webhook-backpressure/inbox';
import type { Buckets } from '@webhook-backpressure/fleet';
import { isInboxStore } from '@webhook-backpressure/inbox/store';
import { checkBuckets, hasCalls } from './check-buckets.ts';
import type { Endpoint } from './endpoint-settings.ts';
import { checkLimits, checkUpTo, type EndpointLimits, type LimitDefaults } from './rates.ts';

/** How failed attempts are retried. */
export interface SenderRetryOptions {
  /** Counted attempts until an event becomes a dead letter: an integer ≥ 1. Default 20. */
  attempts?: number | undefined;
  /** The longest delay before the second attempt, in milliseconds, from 0 to 86,400,000. Default 5,000. */
  firstDelayMs?: number | undefined;
  /** The longest delay of all, in milliseconds, from `firstDelayMs` to 604,800,000. Default 6 hours. */
  maxDelayMs?: number | undefined;
  /** An event that is older becomes a dead letter instead of being retried, in milliseconds, from 1 to 31,536,000,000. Default 5 days. */
  maxAgeMs?: number | undefined;
}

/** Options of `createSender`. */
export interface SenderOptions {
  /** Where events are stored: `memoryStore()`, `sqliteStore()` or `postgresStore()`. Not the store of an inbox. */
  store: InboxStore;
  /**
   * The settings of an endpoint. Asked before its first attempt, again after `endpointTtlMs` while it has events, and after
   * `refresh`. Null: there is no such endpoint; its events become dead letters. When the function throws, rejects, takes
   * longer than 10 s or returns invalid settings, the last valid settings stay in use, or its events wait.
   */
  endpoint: (id: string) => Awaitable<Endpoint | null>;
  /** How long settings are used, in milliseconds, from 0 to 86,400,000. Default 10,000. */
  endpointTtlMs?: number | undefined;
  /** The limits of endpoints that have none. Their `burst` belongs to their `rate`: an endpoint with a rate replaces both. */
  defaults?: EndpointLimits | undefined;
  /** Where tokens are kept, such as `redisBuckets(client)`. Default: in this process. */
  buckets?: Buckets | undefined;
  /** How failed attempts are retried. */
  retry?: SenderRetryOptions | undefined;
  /** How long an attempt may take, from the connection to the end of the answer, in milliseconds, from 1 to 600,000. Default 15,000. */
  timeoutMs?: number | undefined;
  /**
   * The longest Retry-After that is honored, in milliseconds, from 1,000 to 2,592,000,000. A longer one is shortened to it.
   * Default 24 hours.
   */
  maxWaitMs?: number | undefined;
  /**
   * After failing for so long, without a success, an endpoint is disabled, in milliseconds, from 60,000 to 31,536,000,000.
   * Default 5 days.
   */
  disableAfterMs?: number | undefined;
  /**
   * How many events may be unfinished: an integer ≥ 1. Default 100,000. The last tenth is for endpoints that hold less than
   * an equal share of what is free of it.
   */
  capacity?: number | undefined;
  /** How many bytes unfinished events may take: an integer ≥ 1. Default 1 GiB. The last tenth is shared in the same way. */
  maxBytes?: number | undefined;
  /** The most bytes of the type and the data of one event, as JSON: an integer from 1 to 16 MiB. Default 1 MiB. */
  maxEventBytes?: number | undefined;
  /** Without room for the endpoint, `send` waits for it, or rejects with `ERR_WBP_SEND_FULL`. Default `wait`. */
  whenFull?: 'wait' | 'refuse' | undefined;
  /** How long the given id of a delivered event is remembered, in milliseconds, from 0 to 31,536,000,000. Default 7 days. */
  retentionMs?: number | undefined;
  /** How many dead letters are kept: an integer ≥ 1. Default 100,000. */
  maxDeadLetters?: number | undefined;
  /** Whether requests may go to private, loopback, link-local and metadata addresses, and use http. Default false. */
  allowPrivateAddresses?: boolean | undefined;
  /**
   * Makes the requests instead of undici. Addresses are then checked before the call only, and not at the connection: the
   * function is responsible for them.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** The clock. Default: the clock of the system. */
  clock?: Clock | undefined;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  random?: (() => number) | undefined;
  /** Returns the time of day that is stored and signed, in milliseconds since 1970. Default `Date.now`. */
  wallClock?: (() => number) | undefined;
}

/** When failed attempts are retried, complete and checked. */
export type RetrySettings = Complete<SenderRetryOptions>;

/** The options whose settings are of another type. */
interface Kept {
  readonly defaults: LimitDefaults;
  /** Undefined: buckets of this process. */
  readonly buckets: Buckets | undefined;
  readonly retry: RetrySettings;
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
  maxEventBytes: { default: 1024 * 1024, check: by(checkUpTo, 'ERR_WBP_MAX_BODY', MAX_EVENT_BYTES) },
  whenFull: { default: 'wait', check: by(checkOneOf, 'ERR_WBP_WHEN_FULL', ['wait', 'refuse']) },
  retentionMs: { default: 7 * DAY_MS, check: milliseconds('ERR_WBP_RETENTION', 0, YEAR_MS) },
  maxDeadLetters: { default: 100_000, check: by(checkInteger, 'ERR_WBP_MAX_DEAD_LETTERS', 1) },
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
  checkNumber('ERR_WBP_RETRY', 'retry.firstDelayMs', firstDelayMs, 0, DAY_MS, 'milliseconds');
  checkNumber('ERR_WBP_RETRY', 'retry.maxDelayMs', maxDelayMs, firstDelayMs, 7 * DAY_MS, 'milliseconds');
  checkNumber('ERR_WBP_RETRY', 'retry.maxAgeMs', maxAgeMs, 1, YEAR_MS, 'milliseconds');
  return { attempts, firstDelayMs, maxDelayMs, maxAgeMs };
}

function checkStore(store: unknown): void {
  if (hasCalls(store, STORE_CALLS) && isInboxStore(store as InboxStore)) return;
  const rule =
    'a store that workers can use, such as memoryStore(), sqliteStore({ path }) or postgresStore()';
  throw invalid('ERR_WBP_STORE', 'store', rule, store);
}
