import { idOf, isHandshake, type RequestHeaders, type SenderProfile } from '@webhook-backpressure/senders';
import type { Delivery } from './delivery.ts';

/**
 * The part of the sender's timeout that is left for the handler and for the response. A sender that never retries leaves
 * only the least: an early refusal saves it nothing, and loses the event.
 */
const MARGIN = 0.2;
const MIN_MARGIN_MS = 500;

/** The delivery of a request with these headers from a recognized sender. */
export function deliveryOf(profile: SenderProfile, headers: RequestHeaders): Delivery {
  return {
    key: profile.name,
    id: idOf(profile, headers),
    maxWaitMs: longestWaitMs(profile),
    statusCode: profile.status,
    retries: profile.retries === 'none' ? false : undefined,
    handshake: isHandshake(profile, headers),
    profile,
  };
}

function longestWaitMs({ timeoutMs, retries }: SenderProfile): number | undefined {
  if (timeoutMs === undefined) return undefined;
  const margin = retries === 'none' ? 0 : MARGIN;
  return Math.max(0, timeoutMs - Math.max(MIN_MARGIN_MS, margin * timeoutMs));
}
