import type { RefusalReason } from '../../delivery/refusal.ts';

/** What an inbox reports. `at` is the inbox's clock, in milliseconds. Events are plain objects of their own. */
export type InboxEvent = { readonly at: number } & (
  | { readonly type: 'shedding' | 'accepting'; readonly depth: number; readonly bytes: number }
  /** All workers are busy and nothing has completed for long. */
  | { readonly type: 'stalled' | 'recovered' }
  /**
   * Committed and acknowledged. `overflow`: onto the shelf. `duplicate`: it was there already. `conflict`: the same with
   * another body, which is not stored.
   */
  | {
      readonly type: 'stored' | 'overflow' | 'duplicate' | 'conflict';
      readonly key: string;
      readonly id: string;
    }
  /** In a dry run: it would have been refused, and was let in. */
  | {
      readonly type: 'refused';
      readonly reason: RefusalReason;
      readonly status: 429 | 503;
      readonly retryAfterSeconds: number;
      readonly key: string;
      /** Its sender never tries again. */
      readonly lossRisk: boolean;
    }
  /** It was answered with 401. `error`: what `verify` threw or returned, which may be a fault of its own. */
  | { readonly type: 'unverified'; readonly key: string; readonly error: string }
  /** `verify` threw an error with `status: 503`: it could not tell. The refusal follows. */
  | { readonly type: 'verify-failed'; readonly key: string; readonly error: string }
  /** It was answered with 413. */
  | { readonly type: 'too-large'; readonly key: string }
  /** A handler has begun. `waitedMs`: since the delivery was received, by the wall clock. */
  | {
      readonly type: 'started';
      readonly key: string;
      readonly id: string;
      readonly attempt: number;
      readonly waitedMs: number;
    }
  | {
      readonly type: 'completed';
      readonly key: string;
      readonly id: string;
      readonly attempt: number;
      readonly tookMs: number;
    }
  /**
   * An attempt has failed, and there will be another one. `isCounted`: whether it has used one of the delivery's attempts;
   * in an outage it has not.
   */
  | {
      readonly type: 'failed';
      readonly key: string;
      readonly id: string;
      readonly attempt: number;
      readonly error: string;
      readonly retryInMs: number;
      readonly isCounted: boolean;
    }
  /** The last attempt has failed: the delivery is on the shelf. */
  | {
      readonly type: 'dead';
      readonly key: string;
      readonly id: string;
      readonly attempt: number;
      readonly error: string;
    }
  /** The last attempt has failed, and the shelf is full: the delivery stays unfinished, and the attempt is made again. */
  | {
      readonly type: 'shelf-full';
      readonly key: string;
      readonly id: string;
      readonly attempt: number;
      readonly error: string;
      readonly retryInMs: number;
    }
  /** It was on the shelf for longer than `maxShelvedAgeMs`, and is gone. */
  | { readonly type: 'discarded'; readonly key: string; readonly id: string }
  /** A handler took longer than `maxHandlingMs`. Its signal is aborted, and its attempt has failed. */
  | { readonly type: 'overdue'; readonly key: string; readonly id: string; readonly attempt: number }
  /** A claim was taken over by another process while the handler ran: what it did may be done twice. */
  | { readonly type: 'lost'; readonly key: string; readonly id: string; readonly attempt: number }
  /** Given back without an attempt: the inbox closed, or it was paused, or an outage began, before its start. */
  | { readonly type: 'released'; readonly key: string; readonly id: string; readonly attempt: number }
  /** Deliveries are being put back: after each part, and when there is no room for more now. */
  | {
      readonly type: 'redriving';
      readonly redriven: number;
      readonly remaining: number;
      readonly isWaiting: boolean;
    }
  /** `redriven`: put back, from the shelf or from what is kept. */
  | { readonly type: 'redriven' | 'purged'; readonly count: number }
  /**
   * Handlers fail in a row, of this key, or with null of many keys. One attempt is made now and then, and none counts;
   * `error` is what the last one failed with. Reported again with `isCounting` when that has lasted for 72 hours: from then
   * on attempts count.
   */
  | {
      readonly type: 'outage';
      readonly key: string | null;
      readonly error: string;
      readonly isCounting: boolean;
    }
  /**
   * An attempt has succeeded after an outage: the others follow, more and more of them. Or nothing of the key has been due
   * for ten minutes.
   */
  | { readonly type: 'restored'; readonly key: string | null }
  /** Nothing more of this key, or with null nothing at all, is begun; and the end of that. */
  | { readonly type: 'paused' | 'resumed'; readonly key: string | null }
  /** A call of the store has failed. Deliveries are refused, and workers wait, until it works again. */
  | { readonly type: 'store-failed'; readonly call: string; readonly error: string }
  | { readonly type: 'store-recovered' }
  /** Much of what makes the sender switch the endpoint off has happened. Reported once. */
  | { readonly type: 'endangered'; readonly sender: string }
  /** `options` names what was changed. */
  | { readonly type: 'updated'; readonly options: readonly string[] }
  | { readonly type: 'closed'; readonly completed: number; readonly remaining: number }
);

/** Gets the events of an inbox. What it throws, or rejects with, is swallowed: it must not harm a delivery. */
export type InboxListener = (event: InboxEvent) => unknown;
