import type { ActiveAlarm } from '../alarms/alarm.ts';
import type { Percentiles } from '../windows/windows.ts';
import type { DeadLetters } from '@webhook-backpressure/inbox';
import type { DisableReason, EndpointWait, OutboxListener } from './outbox-events.ts';

/**
 * - `active`: attempts are made when events are due
 * - `waiting`: the endpoint asked to wait
 * - `failing`: attempts fail one after another; only single probes are made
 * - `paused`: an operator stopped it
 * - `disabled`: its events are dead letters
 */
export type EndpointState = 'active' | 'waiting' | 'failing' | 'paused' | 'disabled';

/** One endpoint at one moment. Figures are those of this process. */
export interface EndpointSnapshot {
  /** The id of the endpoint. */
  readonly endpoint: string;
  /** How the sender treats its events. */
  readonly state: EndpointState;
  /** Stored events that are not in flight, including those that wait for a retry; an estimate if processes share the store. */
  readonly queued: number;
  /** Requests in flight. */
  readonly inFlight: number;
  /** Tokens in its bucket, rounded down; null while that is unknown. */
  readonly tokens: number | null;
  /** The present rate, in requests per second. It and the other limits are 0 until the settings of the endpoint are known. */
  readonly ratePerSecond: number;
  /** The rate of its settings, with `documented` 80 % of it; or the one that `setRate` has replaced it by. */
  readonly setRatePerSecond: number;
  /** The present limit of requests in flight. */
  readonly maxInFlight: number;
  /** The limit of its settings. */
  readonly setMaxInFlight: number;
  /** For how long no attempt is made, in milliseconds, because the endpoint asked for it or fails; 0 for none. */
  readonly pausedForMs: number;
  /** Why it waits. Undefined unless the state is `waiting`. */
  readonly waitsBecause: EndpointWait | undefined;
  /** Why it is disabled. Undefined unless the state is `disabled`. */
  readonly disabledBecause: DisableReason | undefined;
  /** The age of the oldest event of which an attempt was made or claimed, in milliseconds; 0 for none. */
  readonly oldestAgeMs: number;
  /** Of the last five minutes. Undefined until the sender is observed. */
  readonly window: EndpointWindow | undefined;
  /** Whether its limits were kept. */
  readonly audit: RateAudit;
  /** The last error; undefined after a success. */
  readonly lastError: string | undefined;
}

/**
 * Figures of one endpoint, of the last 295 to 300 s. They are kept of the 1,000 busiest endpoints: one with more than a
 * thousandth of all attempts of the last ten minutes always has them, and they lack at most as many attempts.
 */
export interface EndpointWindow {
  /** Requests started. */
  readonly attempts: number;
  /** Of them: answered with 429, or with another status and Retry-After. */
  readonly limited: number;
  /** `limited` ÷ `attempts`; 0 without attempts. */
  readonly limitedRatio: number;
  /** Requests that failed otherwise. */
  readonly failed: number;
  /** Events delivered. */
  readonly delivered: number;
  /** From `send` to the delivery, in milliseconds: of the oldest event of each request. */
  readonly latencyMs: Percentiles;
  /** The mean of the same, accurate to 6 %; null without values. */
  readonly meanLatencyMs: number | null;
  /** How long requests took, in milliseconds. */
  readonly requestMs: Percentiles;
}

/** Whether the limits of an endpoint were kept, by this process, since the endpoint became active. */
export interface RateAudit {
  /** The most requests started in any second, counted in steps of 50 ms: it can lack those of one step. */
  readonly mostInASecond: number;
  /** The starts that burst and rate allow in any second, at the highest limits so far. */
  readonly allowedInASecond: number;
  /** Starts that exceeded what burst and rate allow, in a window of any length: always 0. */
  readonly excess: number;
  /** The most requests in flight. */
  readonly mostInFlight: number;
}

/** An alarm that is raised, of a sender. At most 100 endpoints have the same alarm at a time. */
export interface ActiveOutboxAlarm extends ActiveAlarm {
  /** The endpoint that the alarm is about; undefined for an alarm of the whole sender. */
  readonly endpoint: string | undefined;
}

/** The state of a sender at one moment: a copy that does not change. */
export interface OutboxSnapshot {
  /** `opening`: the store is not open yet. `full`: the outbox has no room, for endpoints that hold their share of it at least. */
  readonly state: 'opening' | 'accepting' | 'full' | 'closing' | 'closed';
  /** Unfinished events: queued, in flight, or waiting for a retry. */
  readonly depth: number;
  /** Bytes of unfinished events. */
  readonly bytes: number;
  /** The option: how many events may be unfinished. */
  readonly capacity: number;
  /** The option: how many bytes they may take. */
  readonly maxBytes: number;
  /** Calls of `send` that wait for room. */
  readonly waitingSends: number;
  /** Requests in flight. */
  readonly inFlight: number;
  /** Dead letters, as of the last few seconds. */
  readonly deadLetters: number;
  /** Milliseconds since the oldest unfinished event was sent, as of the last few seconds; 0 for none. */
  readonly oldestAgeMs: number;
  /** Whether everything is paused. */
  readonly isPaused: boolean;
  /** Whether calls of the store failed, and none has worked since. */
  readonly isStoreFailing: boolean;
  /** Processes that share the buckets, this one included; 1 without shared buckets. */
  readonly processes: number;
  /** How many endpoints have events or requests, and how many are in each state. */
  readonly states: Readonly<Record<EndpointState, number>>;
  /**
   * Up to 1,000 endpoints: those with attempts in the last five minutes, the busiest first, then those with events, then those
   * that are paused or disabled.
   */
  readonly endpoints: readonly EndpointSnapshot[];
  /** Counts since the sender was created. */
  readonly totals: OutboxTotals;
}

/** Counts of a sender, in this process since it was created. */
export interface OutboxTotals {
  /** Events that were stored. */
  readonly accepted: number;
  /** Calls of `send` whose id was known, with the same body or another one. */
  readonly duplicate: number;
  /** Of `duplicate`: those with another body. */
  readonly conflict: number;
  /** Calls of `send` that were refused because the outbox was full. */
  readonly refused: number;
  /** Requests that were started. */
  readonly attempts: number;
  /** Events that were delivered. */
  readonly delivered: number;
  /** Requests after which the endpoint asked to wait. */
  readonly limited: number;
  /** Requests that failed otherwise. */
  readonly failed: number;
  /** Of `failed`: those without an answer within the timeout. */
  readonly timedOut: number;
  /** Events that moved to the dead-letter queue. */
  readonly dead: number;
  /** Dead letters that were deleted because of their age. */
  readonly discarded: number;
  /** Requests that contained more than one event. */
  readonly batches: number;
  /** Events whose claim another process took over. */
  readonly lost: number;
  /** Values of Retry-After that were invalid, negative, in the past or too long, and were replaced. */
  readonly clampedRetryAfter: number;
  /** How often endpoints were disabled. */
  readonly disabled: number;
  /** Calls of `endpoint` that failed. */
  readonly endpointFailures: number;
  /** Calls of the store that failed. */
  readonly storeFailures: number;
}

/** A rate of requests, from 1 a day to 1,000,000 a second. A rate that is no fraction is rounded down, by less than 0.001 %. */
export type Rate = { readonly perSecond: number } | { readonly perMinute: number };

/** The endpoints of a sender, and the actions of an operator on them. */
export interface Endpoints {
  /**
   * Endpoints with attempts in the last five minutes, the busiest first, then those with events, then those that are paused
   * or disabled.
   *
   * @param options - `limit`: integer ≥ 1, default 100. `offset`: integer ≥ 0, default 0.
   * @throws BackpressureError `ERR_WBP_ENDPOINT` for an invalid option, or an invalid id in the calls below.
   */
  list(options?: { limit?: number | undefined; offset?: number | undefined }): readonly EndpointSnapshot[];
  /** The endpoint of this id; undefined if it has neither events nor requests, and had none for long. */
  get(id: string): EndpointSnapshot | undefined;
  /**
   * Stops attempts at an endpoint, in this process immediately, in others within seconds, and after restarts, until
   * `resume`. Requests in flight end, and its events are still stored. Rejects with `ERR_WBP_PAUSE` if 1,000 endpoints are
   * paused, or with what the store throws.
   */
  pause(id: string): Promise<void>;
  /**
   * Ends a pause. Enables an endpoint that was disabled after 410 or failures, and puts its dead letters back. Does
   * nothing for any other endpoint. Rejects with what the store throws.
   */
  resume(id: string): Promise<void>;
  /** Asks the function `endpoint` again before the next attempt. */
  refresh(id: string): void;
  /**
   * Replaces the rate of an endpoint in this process until it is set again, with null by that of its settings. The burst is
   * replaced by 5 s of the new rate. A restart ends it: to keep a rate, return it from the function `endpoint`.
   *
   * @throws BackpressureError `ERR_WBP_RATE` for an invalid rate.
   */
  setRate(id: string, rate: Rate | null): void;
}

/** The report of `close`. */
export interface OutboxCloseReport {
  /** Requests that ended after the call of `close`. */
  readonly completed: number;
  /** Requests that were still in flight at the timeout; their events were released. */
  readonly remaining: number;
}

/** A sender, as far as metrics, logs and the live page use it. */
export interface ObservableOutbox {
  /** The endpoints, and the actions of an operator on them. */
  readonly endpoints: Endpoints;
  /** The dead-letter queue. Their `key` is the id of the endpoint. */
  readonly deadLetters: DeadLetters;
  /** The current state and totals. */
  snapshot(): OutboxSnapshot;
  /** Calls the listener synchronously with each event, in order. Returns a function that ends the subscription. */
  subscribe(listener: OutboxListener): () => void;
}
