import type { Refusal } from '../delivery/refusal.ts';
import type { IntakeSnapshot } from '../delivery/snapshot.ts';

/** Which rate-limit headers are wanted. */
export interface FieldStyle {
  readonly standard: boolean;
  readonly legacy: boolean;
}

/**
 * The queue in the words of rate limiting: the quota is the high-water mark, what remains are the places below it,
 * and it is whole again when the queue has been worked off.
 *
 * Source of the standard ones: draft-ietf-httpapi-ratelimit-headers-08. The legacy Reset is a Unix time in
 * seconds, as with most of those who send it, so here the wall clock is read.
 */
export function rateLimitFields(
  snapshot: IntakeSnapshot,
  style: FieldStyle,
  refusal: Refusal | undefined,
): Record<string, string> {
  const { state, depth, highWater, drainRate } = snapshot;
  const remaining = state === 'accepting' ? Math.max(0, highWater - depth) : 0;
  const resetS = refusal?.retryAfterSeconds ?? Math.ceil(depth / (drainRate ?? Infinity));
  const fields: Record<string, string> = {};
  if (style.standard) {
    fields['RateLimit-Policy'] = `"queue";q=${String(highWater)}`;
    fields['RateLimit'] = `"queue";r=${String(remaining)};t=${String(resetS)}`;
  }
  if (style.legacy) {
    fields['X-RateLimit-Limit'] = String(highWater);
    fields['X-RateLimit-Remaining'] = String(remaining);
    fields['X-RateLimit-Reset'] = String(Math.ceil(Date.now() / 1000) + resetS);
  }
  return fields;
}
