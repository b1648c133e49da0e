import type { SenderProfile } from '@webhook-backpressure/senders';

/** What you know about your traffic and your receiver. */
export interface PlanRequest {
  /** Your senders. At least one. */
  readonly senders: readonly PlannedSender[];
  /** Deliveries per second on an ordinary day, from 0 to 1,000,000. Default 0. */
  readonly normalPerSecond?: number | undefined;
  /** The burst to survive, in addition to the ordinary traffic. Default none. */
  readonly burst?: Burst | undefined;
  /** How long a handler takes. */
  readonly service: ServiceTime;
  /**
   * How many deliveries all receivers together handle concurrently. Integer from 1 to 10,000, default 10. Not searched:
   * a resource of your handlers sets it, such as their database pool.
   */
  readonly concurrency?: number | undefined;
  /** Recommends only this mode. Default: `hold` if it loses nothing, otherwise the mode that loses less. */
  readonly mode?: Mode | undefined;
  /** The number of receiving processes. Integer from 1 to 64, default 1. */
  readonly receivers?: number | undefined;
  /** Sets the option `capacity`, of `hold` unless `mode` is `inbox`, so that it is not searched. Integer ≥ 1. */
  readonly capacity?: number | undefined;
  /** Sets the option `maxWaitMs` in the same way. From 1 to 86,400,000. */
  readonly maxWaitMs?: number | undefined;
  /**
   * How long senders wait for an answer whose own timeout is not known, in milliseconds, from 1 to 86,400,000. Default
   * 15,000.
   */
  readonly timeoutMs?: number | undefined;
  /** The same request with the same seed gives the same plan. Integer ≥ 0, default 1. */
  readonly seed?: number | undefined;
}

/** `hold` queues requests and answers when the handler has ended; `inbox` stores, answers, and handles later. */
export type Mode = 'hold' | 'inbox';

/** One kind of sender, and its part of the deliveries. */
export interface PlannedSender {
  /**
   * The name of a profile, such as `shopify`; `unknown` for a sender that is not recognized: it retries with exponential
   * backoff for a day, and ignores Retry-After; or a profile.
   */
  readonly profile: string | SenderProfile;
  /** Its share of the deliveries, relative to those of the others. Above 0, default 1. */
  readonly share?: number | undefined;
}

/** Many deliveries in a short time, evenly random. */
export interface Burst {
  /** The number of deliveries. Integer from 1 to 2,000,000. */
  readonly events: number;
  /** The time in which they arrive, in seconds. From 0.001 to 86,400. */
  readonly seconds: number;
}

/** How long a handler takes. */
export interface ServiceTime {
  /** The mean, in milliseconds. Above 0, at most 86,400,000. */
  readonly meanMs: number;
  /** `exponential`: most take less, few take several times as long. Default `exponential`. */
  readonly distribution?: 'constant' | 'exponential' | undefined;
}
