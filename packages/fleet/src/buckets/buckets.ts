import { type Awaitable, type Clock, invalid, isRecord } from '@webhook-backpressure/base';

/** How many requests may start: `amount` in `periodMs`, of which up to `burst` can be saved. */
export interface BucketLimit {
  /** Tokens in `periodMs`: a positive integer. */
  readonly amount: number;
  /** Milliseconds: a positive integer. */
  readonly periodMs: number;
  /** The most tokens that can be saved: a positive integer. At most 9 × 10¹² ÷ `periodMs` of them are. */
  readonly burst: number;
}

/** The result of {@link Buckets.take}. */
export interface TokenGrant {
  /** Tokens that were taken, from 0 to the wanted count. */
  readonly taken: number;
  /** Milliseconds until the next token is there; 0 if one is there now. */
  readonly waitMs: number;
}

/** An event that buckets report without having been called. */
export type BucketsEvent =
  /** The server does not answer. `processes`: each uses its part of the rates. */
  | { readonly type: 'lost'; readonly error: string; readonly processes: number }
  | { readonly type: 'restored'; readonly lostMs: number };

/** What a sender passes to its buckets. */
export interface BucketsOptions {
  /** The clock of the sender. */
  readonly clock: Clock;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Receives the events of the buckets. */
  readonly listener: (event: BucketsEvent) => void;
}

/** Where the tokens of endpoints are kept: in this process, or for many processes. */
export interface Buckets {
  /** Called once by the sender, before any other call. */
  open?(options: BucketsOptions): void;
  /**
   * Takes up to `count` tokens. Never rejects and never takes long: without its server, a process takes from its own part
   * of the rate.
   *
   * @param name - the id of the endpoint.
   * @param limit - the present limit. A changed limit keeps the saved tokens, up to the new burst.
   */
  take(name: string, count: number, limit: BucketLimit): Awaitable<TokenGrant>;
  /**
   * Tokens that were taken before are used now. Returns how many may be: tokens that have been held for a while, such as
   * during a slow call of the store, would exceed the limit together with those that have arrived since, so they are taken
   * anew. Call it immediately before the starts. Without this method, tokens do not age.
   *
   * @param count - tokens of the last `take`. Those that may not be used are given back.
   */
  use?(name: string, count: number, limit: BucketLimit): Awaitable<number>;
  /** Returns tokens that were taken and not used. */
  giveBack(name: string, count: number, limit: BucketLimit): void;
  /** No process gets a token for so long, because the receiver asked for it. A shorter pause does not replace a longer one. */
  pause(name: string, forMs: number, limit: BucketLimit): void;
  /** Tokens that this process could take now, rounded down; null while that is unknown. Never asks a server. */
  peek(name: string, limit: BucketLimit): number | null;
  /** Drops the data that this process keeps of an endpoint that has no events. A full bucket needs no memory. */
  forget(name: string): void;
  /** Processes that used these buckets in the last seconds, this one included. */
  readonly processes: number;
  /** Releases timers. The client is not closed. */
  close?(): void;
}

const CALLS: readonly (keyof Buckets)[] = ['take', 'giveBack', 'pause', 'peek', 'forget'];

/**
 * Checks the option `buckets`.
 *
 * @throws BackpressureError `ERR_WBP_BUCKETS`
 */
export function checkBuckets(buckets: unknown): void {
  if (isRecord(buckets) && CALLS.every((call) => typeof buckets[call] === 'function')) return;
  throw invalid('ERR_WBP_BUCKETS', 'buckets', 'what redisBuckets() returns', buckets);
}
