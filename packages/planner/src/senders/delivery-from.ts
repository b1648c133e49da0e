import type { Delivery } from '@webhook-backpressure/core';
import { deliveryOf } from '@webhook-backpressure/core/parts';
import type { Sender } from '../scenario/sender.ts';

/** A delivery of the sender as the receiver sees it: with a profile, what the middleware makes of its headers. */
export function deliveryFrom({ key, profile, identified, delivery }: Sender, id: string): Delivery {
  if (profile === undefined) return { ...delivery, key, id: identified ? id : undefined };
  const headers = identified && profile.id !== undefined ? { [profile.id]: id } : {};
  const recognized: Delivery = { ...deliveryOf(profile, headers), key };
  if (delivery.priority !== undefined) recognized.priority = delivery.priority;
  if (delivery.retries !== undefined) recognized.retries = delivery.retries;
  if (delivery.maxWaitMs !== undefined) recognized.maxWaitMs = delivery.maxWaitMs;
  if (delivery.statusCode !== undefined) recognized.statusCode = delivery.statusCode;
  return recognized;
}
