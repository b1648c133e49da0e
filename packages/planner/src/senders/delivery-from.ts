import type { Delivery } from '@webhook-backpressure/core';
import { deliveryOf } from '@webhook-backpressure/core/parts';
import type { Sender } from '../scenario/sender.ts';

/** A delivery of the sender as the receiver sees it: with a profile, what the middleware makes of its headers. */
export function deliveryFrom(
  { key, profile, recognized, identified, delivery }: Sender,
  id: string,
): Delivery {
  if (profile !== undefined && !recognized) return { ...delivery, key };
  if (profile === undefined) return { ...delivery, key, id: identified ? id : undefined };
  const headers = identified && profile.id !== undefined ? { [profile.id]: id } : {};
  const found: Delivery = { ...deliveryOf(profile, headers), key };
  if (delivery.priority !== undefined) found.priority = delivery.priority;
  if (delivery.retries !== undefined) found.retries = delivery.retries;
  if (delivery.maxWaitMs !== undefined) found.maxWaitMs = delivery.maxWaitMs;
  if (delivery.statusCode !== undefined) found.statusCode = delivery.statusCode;
  return found;
}
