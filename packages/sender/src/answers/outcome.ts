/**
 * The meaning of an answer, or of its absence:
 *
 * - `delivered`: 2xx. `failedIds`: the events of a batch that failed, by a 207
 * - `limited`: the endpoint asks to wait. `waitMs`: undefined when it does not say how long
 * - `down`: the endpoint does not work: no answer, or 5xx without Retry-After
 * - `failed`: the delivery failed, and is retried: 3xx, 408, 409, 425
 * - `final`: the delivery failed, and a retry is useless: other 4xx
 * - `too-much`: 413 or 422: final for one event, and a reason to split a batch
 * - `gone`: 410: the endpoint does not exist any more
 */
export type Outcome =
  | { readonly kind: 'delivered'; readonly failedIds: readonly string[] }
  | { readonly kind: 'limited'; readonly waitMs: number | undefined }
  | { readonly kind: 'down' | 'failed' | 'final' | 'too-much' | 'gone' };

/** The limit of the endpoint, as the headers of any answer state it. */
export interface RateHints {
  /** Requests that are left. */
  readonly remaining: number;
  /** Until the limit is renewed, in milliseconds. */
  readonly resetMs: number;
  /** Of a receiver with Webhook Backpressure: how full its queue is, from 0 to 1, the mark where it begins to refuse. */
  readonly fill?: number | undefined;
}

/** The conclusion from an attempt. */
export interface Judgment {
  readonly outcome: Outcome;
  readonly hints: RateHints | undefined;
  /** Whether a Retry-After was invalid, negative, in the past or too long, and was replaced. */
  readonly isClamped: boolean;
  /** For events, logs and the dead-letter queue; empty for `delivered`. No secrets, at most 4,096 characters. */
  readonly error: string;
}
