import type { Awaitable, InboxStore } from '@webhook-backpressure/inbox';
import type { Buckets } from '@webhook-backpressure/fleet';
import type { Clock } from '@webhook-backpressure/base';
import type { Rate } from '@webhook-backpressure/observe';
import type { SenderAlarmOptions } from '@webhook-backpressure/core';

/** When events of an endpoint are put into one request: whichever comes first. */
export interface BatchOptions {
  /** The most events of a request: an integer from 1 to 500. Default 100. */
  maxEvents?: number | undefined;
  /** How long an event waits for others, in milliseconds, from 0 to 60,000. Default 5,000. */
  maxDelayMs?: number | undefined;
  /** The most bytes of a request body, from 1 to 1,000,000. An event that is larger is sent alone. Default 1,000,000. */
  maxBytes?: number | undefined;
}

/** The limits of an endpoint. */
export interface EndpointLimits {
  /** How fast requests are started: from 1 a day to 1,000,000 a second. Default `{ perSecond: 10 }`. */
  rate?: Rate | undefined;
  /**
   * How many requests may start immediately after a quiet time: an integer from 1 to 1,000,000. Default 5 s of the rate, at
   * least 1; with `documented` a fifth of the amount of the rate, so that no second, or no minute, exceeds the rate.
   */
  burst?: number | undefined;
  /** How many requests may be in flight: an integer from 1 to 10,000. Default 10. */
  maxInFlight?: number | undefined;
}

/** The settings of an endpoint, as the function `endpoint` returns them. */
export interface Endpoint extends EndpointLimits {
  /**
   * Where requests go: an absolute URL of https, or of http with `allowPrivateAddresses`, without credentials, of at most
   * 4,096 characters. A fragment is removed.
   */
  url: string | URL;
  /**
   * Secrets of Standard Webhooks (`whsec_…` or base64), the newest first: each request is signed with all of them, so that the
   * receiver can rotate. `null` sends requests without a signature.
   */
  secret: string | readonly string[] | null;
  /** Puts events into batches. Absent: one request for each event. Not together with `ordered`. */
  batch?: BatchOptions | undefined;
  /** Whether events are delivered strictly in the order of `send`, one at a time. Default false. */
  ordered?: boolean | undefined;
  /** Whether `rate` is the documented limit of the receiver: then 80 % of it is used. Default false. */
  documented?: boolean | undefined;
}

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
  /** How many events may be unfinished: an integer ≥ 1. Default 100,000. */
  capacity?: number | undefined;
  /** How many bytes unfinished events may take: an integer ≥ 1. Default 1 GiB. */
  maxBytes?: number | undefined;
  /** The most bytes of the type and the data of one event, as JSON: an integer from 1 to 16 MiB. Default 1 MiB. */
  maxEventBytes?: number | undefined;
  /** While the outbox is full, `send` waits for room, or rejects with `ERR_WBP_SEND_FULL`. Default `wait`. */
  whenFull?: 'wait' | 'refuse' | undefined;
  /** How long the given id of a delivered event is remembered, in milliseconds, from 0 to 31,536,000,000. Default 7 days. */
  retentionMs?: number | undefined;
  /** How many dead letters are kept: an integer ≥ 1. Default 100,000. */
  maxShelved?: number | undefined;
  /** When alarms are raised; `false` for none. */
  alarms?: false | SenderAlarmOptions | undefined;
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
