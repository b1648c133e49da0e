import type { DeadLetters } from '@webhook-backpressure/inbox';
import type { EndpointSnapshot, SenderSnapshot } from './sender-snapshot.ts';
import type { SenderListener } from './sender-events.ts';

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
export interface SenderCloseReport {
  /** Requests that ended after the call of `close`. */
  readonly completed: number;
  /** Requests that were still in flight at the timeout; their events were released. */
  readonly remaining: number;
}

/** A sender, as far as metrics, logs and the live page use it. */
export interface ObservableSender {
  /** The endpoints, and the actions of an operator on them. */
  readonly endpoints: Endpoints;
  /** The dead-letter queue. Their `key` is the id of the endpoint. */
  readonly deadLetters: DeadLetters;
  /** The current state and totals. */
  snapshot(): SenderSnapshot;
  /** Calls the listener synchronously with each event, in order. Returns a function that ends the subscription. */
  subscribe(listener: SenderListener): () => void;
}
