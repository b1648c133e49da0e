import type { AlarmEvent } from '@webhook-backpressure/core';

/** The attempt that an event of a sender is about. */
export interface EndpointAttempt {
  /** The id of the endpoint. */
  readonly endpoint: string;
  /** The id of the event, or of the batch: the `webhook-id` of the request. */
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** How many events of the request this is about: 1 without batches. */
  readonly events: number;
}

/** Why a sender makes no attempts at an endpoint for a while. */
export type EndpointWait = 'retry-after' | 'rate-limit';

/** Why an endpoint was disabled: it answered 410, it failed for `disableAfterMs`, or `endpoint` returned null for it. */
export type DisableReason = 'gone' | 'failing' | 'unknown';

/** An alarm of a sender. At most 100 endpoints have the same alarm at a time. */
export interface OutboxAlarmEvent extends AlarmEvent {
  /** The endpoint that the alarm is about; undefined for an alarm of the whole sender. */
  readonly endpoint: string | undefined;
}

/** An event of a sender: a plain object. `at`: milliseconds on the clock of the sender. */
export type OutboxEvent = { readonly at: number } &
  /** An event was stored, or its id was known. `conflict`: with another body, which is not stored. */
  (
    | {
        readonly type: 'accepted' | 'duplicate' | 'conflict';
        readonly endpoint: string;
        readonly id: string;
      }
    /** The outbox has no room, for endpoints that hold their share of it at least: their calls of `send` wait, or are refused. And the end of that. */
    | { readonly type: 'full' | 'accepting'; readonly depth: number; readonly bytes: number }
    /** An attempt was started. `waitedMs`: since `send`, for the oldest event of the request. */
    | (EndpointAttempt & { readonly type: 'started'; readonly waitedMs: number })
    /** The endpoint accepted the request. `latencyMs`: since `send`, for the oldest event of the request. */
    | (EndpointAttempt & {
        readonly type: 'delivered';
        readonly status: number;
        readonly tookMs: number;
        readonly latencyMs: number;
      })
    /** The endpoint asked to wait: 429, or another status with Retry-After. The attempt does not count. */
    | (EndpointAttempt & {
        readonly type: 'limited';
        readonly status: number;
        readonly tookMs: number;
        readonly retryInMs: number;
      })
    /**
     * The attempt failed, and a retry is scheduled. `status`: undefined without an answer. `isCounted`: whether it used one
     * of the attempts.
     */
    | (EndpointAttempt & {
        readonly type: 'failed';
        readonly status: number | undefined;
        readonly error: string;
        readonly tookMs: number;
        readonly retryInMs: number;
        readonly isCounted: boolean;
      })
    /** The event is in the dead-letter queue. */
    | (EndpointAttempt & {
        readonly type: 'dead';
        readonly status: number | undefined;
        readonly error: string;
        readonly tookMs: number;
      })
    /** A refused batch was split into halves. */
    | (EndpointAttempt & { readonly type: 'split'; readonly status: number })
    /** Another process took over the claim during the attempt: the event may be delivered twice. */
    | (EndpointAttempt & { readonly type: 'lost' })
    /** No attempts at the endpoint for `forMs`, because it asked for that. */
    | {
        readonly type: 'waiting';
        readonly endpoint: string;
        readonly because: EndpointWait;
        readonly forMs: number;
      }
    /** The rate or the in-flight limit of an endpoint was lowered after a refusal, or is back at the set value. */
    | {
        readonly type: 'slowed' | 'restored';
        readonly endpoint: string;
        readonly ratePerSecond: number;
        readonly maxInFlight: number;
      }
    /** Attempts fail one after another: only single probes are made. And the end of that. */
    | {
        readonly type: 'failing';
        readonly endpoint: string;
        readonly error: string;
        readonly retryInMs: number;
      }
    | { readonly type: 'recovered'; readonly endpoint: string }
    /** Its events move to the dead-letter queue until `resume`, or with `unknown` until `endpoint` returns settings. And the end of that. */
    | { readonly type: 'disabled'; readonly endpoint: string; readonly reason: DisableReason }
    | { readonly type: 'enabled'; readonly endpoint: string }
    /** This process was asked to pause or resume an endpoint. */
    | { readonly type: 'paused' | 'resumed'; readonly endpoint: string }
    /** The function `endpoint` threw, was too slow, or returned invalid settings. `isKept`: the last valid ones stay in use. */
    | {
        readonly type: 'endpoint-failed';
        readonly endpoint: string;
        readonly error: string;
        readonly isKept: boolean;
      }
    /** The shared buckets do not answer: each process uses its share of the rates. And the end of that. */
    | { readonly type: 'buckets-lost'; readonly error: string; readonly processes: number }
    | { readonly type: 'buckets-restored'; readonly lostMs: number }
    | {
        readonly type: 'redriving';
        readonly redriven: number;
        readonly remaining: number;
        readonly isWaiting: boolean;
      }
    | { readonly type: 'redriven' | 'purged'; readonly count: number }
    /** A dead letter was deleted because of its age. */
    | { readonly type: 'discarded'; readonly endpoint: string; readonly id: string }
    /** A call of the store failed. Until it works again, `send` rejects, and no attempts are made. */
    | { readonly type: 'store-failed'; readonly call: string; readonly error: string }
    | { readonly type: 'store-recovered' }
    /** The store works, but something needs an operator. `message` says what. */
    | { readonly type: 'store-warning'; readonly code: string; readonly message: string }
    /** An alarm was raised, or has ended. `help` says what to do. */
    | OutboxAlarmEvent
    | { readonly type: 'closed'; readonly completed: number; readonly remaining: number }
  );

/** Receives the events of a sender. Its errors and rejections are ignored. */
export type OutboxListener = (event: OutboxEvent) => unknown;
