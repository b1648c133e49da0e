import { POLICY, type Refusal } from '../delivery/refusal.ts';
import type { IntakeGlance } from '../delivery/snapshot.ts';

/** Which rate-limit headers to send. */
export interface FieldStyle {
  readonly standard: boolean;
  readonly legacy: boolean;
}

/**
 * The queue as rate-limit headers: the quota is the high-water mark, the remainder is the number of places below it,
 * and the quota resets when the queue has drained.
 *
 * Source of the standard headers: draft-ietf-httpapi-ratelimit-headers, 08 to 11, in which they are the same. The legacy
 * Reset is a Unix time in seconds, as most servers send it, so this function reads the wall clock.
 */
export function rateLimitFields(
  snapshot: IntakeGlance,
  style: FieldStyle,
  refusal: Refusal | undefined,
): Record<string, string> {
  const { state, depth, highWater, drainRate } = snapshot;
  const isAccepting = refusal === undefined && state === 'accepting';
  const remaining = isAccepting ? Math.max(0, highWater - depth) : 0;
  const resetS = refusal?.retryAfterSeconds ?? Math.ceil(depth / (drainRate ?? Infinity));
  const fields: Record<string, string> = {};
  if (style.standard) {
    fields['RateLimit-Policy'] = `"${POLICY}";q=${String(highWater)}`;
    fields['RateLimit'] = `"${POLICY}";r=${String(remaining)};t=${String(resetS)}`;
  }
  if (style.legacy) {
    fields['X-RateLimit-Limit'] = String(highWater);
    fields['X-RateLimit-Remaining'] = String(remaining);
    fields['X-RateLimit-Reset'] = String(Math.ceil(Date.now() / 1000) + resetS);
  }
  return fields;
}
