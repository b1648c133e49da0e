import type { BucketLimit } from '@webhook-backpressure/core';

/** A limit as Redis keeps it. Units as in `TokenLevel` of core: each microsecond adds `amount`. */
export interface BucketShape {
  readonly amount: number;
  /** Units of a token. */
  readonly token: number;
  /** Units of a full bucket. */
  readonly full: number;
  /** How long a token may be held by a process after the call that took it was sent, in milliseconds. */
  readonly holdMs: number;
  /** Tokens of a full bucket. */
  readonly size: number;
  readonly perMs: number;
}

const US_PER_MS = 1000;
const HOLD_MS = 100;
const SHORT_HOLD_MS = 20;

/**
 * How a limit is kept strictly although tokens are used after they were taken.
 *
 * A token that is taken at one time may be used up to `holdMs` later. The uses of a window of length t were taken in a
 * window of length t + hold. So Redis must give at most burst + rate × t in a window of t + hold: its bucket is smaller than
 * the burst by rate × hold. The tokens that this takes away arrive `holdMs` later.
 *
 * A burst that is too small for this gets a shorter hold and a rate that is lower by at most 2 %, which keeps the limit in
 * any second, and in any window of two tokens if these are further apart. Within parts of a second it can then be exceeded
 * by rate × 20 ms.
 */
export function shapeOf({ amount, periodMs, burst }: BucketLimit): BucketShape {
  const token = periodMs * US_PER_MS;
  const most = Math.min(burst, Math.floor(Number.MAX_SAFE_INTEGER / token) - 1) * token;
  const perMs = amount / periodMs;
  const long = most - amount * HOLD_MS * US_PER_MS;
  if (long >= token)
    return { amount, token, full: long, holdMs: HOLD_MS, size: Math.floor(long / token), perMs };
  const short = most - amount * SHORT_HOLD_MS * US_PER_MS;
  if (short >= token)
    return { amount, token, full: short, holdMs: SHORT_HOLD_MS, size: Math.floor(short / token), perMs };
  const windowMs = Math.max(1000, 1 / perMs);
  const slowerPerMs = (most / token - 1 + perMs * windowMs) / (windowMs + SHORT_HOLD_MS);
  const longer = Math.ceil(token * Math.max(1, perMs / slowerPerMs));
  return { amount, token: longer, full: longer, holdMs: SHORT_HOLD_MS, size: 1, perMs: slowerPerMs };
}
