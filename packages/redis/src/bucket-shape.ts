import type { BucketLimit } from '@webhook-backpressure/fleet';

/** A limit as Redis keeps it. Units as in `TokenLevel` of core: each microsecond adds `amount`. */
export interface BucketShape {
  readonly amount: number;
  /** Units of a token. */
  readonly token: number;
  /** Units of a full bucket. */
  readonly full: number;
  /** How long a process may hold a token after it sent the call that took it, in milliseconds. */
  readonly holdMs: number;
  /** Tokens of a full bucket. */
  readonly size: number;
  readonly perMs: number;
}

const US_PER_MS = 1000;
/** For how long the limit is kept, and for how long a token may be held: the process can be interrupted before the start. */
const PAID_MS = 100;
const HOLD_MS = 80;
const SHORT_PAID_MS = 20;
const SHORT_HOLD_MS = 10;

/**
 * How a limit is kept strictly although tokens are used after they were taken.
 *
 * A token that is taken at one time may be used up to 100 ms later. The uses of a window of length t were taken in a window
 * of length t + 100 ms. So Redis must give at most burst + rate × t in a window of t + 100 ms: its bucket is smaller than the
 * burst by rate × 100 ms. The tokens that this takes away arrive 100 ms later.
 *
 * A burst that is too small for this gets 20 ms instead and a rate that is lower by at most 2 %, which keeps the limit in
 * any second, and in any window of two tokens if these are further apart. Within parts of a second it can then be exceeded
 * by rate × 20 ms.
 */
export function shapeOf({ amount, periodMs, burst }: BucketLimit): BucketShape {
  const token = periodMs * US_PER_MS;
  const most = Math.min(burst, Math.floor(Number.MAX_SAFE_INTEGER / token) - 1) * token;
  const perMs = amount / periodMs;
  const long = most - amount * PAID_MS * US_PER_MS;
  if (long >= token)
    return { amount, token, full: long, holdMs: HOLD_MS, size: Math.floor(long / token), perMs };
  const short = most - amount * SHORT_PAID_MS * US_PER_MS;
  if (short >= token)
    return { amount, token, full: short, holdMs: SHORT_HOLD_MS, size: Math.floor(short / token), perMs };
  const windowMs = Math.max(1000, 1 / perMs);
  const slowerPerMs = (most / token - 1 + perMs * windowMs) / (windowMs + SHORT_PAID_MS);
  const longer = Math.ceil(token * Math.max(1, perMs / slowerPerMs));
  return { amount, token: longer, full: longer, holdMs: SHORT_HOLD_MS, size: 1, perMs: slowerPerMs };
}
