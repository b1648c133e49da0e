import type { ActiveAlarm, Percentiles } from '@webhook-backpressure/core';
import type { DisableReason, EndpointWait } from './sender-events.ts';
import type { SenderTotals } from './sender-totals.ts';

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
  /** Of the last five minutes. */
  readonly window: EndpointWindow;
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
export interface ActiveSenderAlarm extends ActiveAlarm {
  /** The endpoint that the alarm is about; undefined for an alarm of the whole sender. */
  readonly endpoint: string | undefined;
}

/** The state of a sender at one moment: a copy that does not change. */
export interface SenderSnapshot {
  /** `opening`: the store is not open yet. `full`: the outbox has no room. */
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
  readonly shelved: number;
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
  readonly totals: SenderTotals;
  /** The alarms that are raised now. */
  readonly alarms: readonly ActiveSenderAlarm[];
}
