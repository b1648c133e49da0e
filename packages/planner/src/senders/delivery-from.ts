import type { Delivery } from '@webhook-backpressure/core';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import type { Sender } from '../scenario/sender.ts';

/** A delivery of the sender as the receiver sees it: with a profile, what the middleware makes of its headers. */
export function deliveryFrom(sender: Sender, id: string): Delivery {
  const { key, profile, recognized, identified, delivery } = sender;
  if (profile === undefined) return { ...delivery, key, id: identified ? id : undefined };
  if (!recognized) return { ...delivery, key };
  const headers = identified && profile.id !== undefined ? { [profile.id]: id } : {};
  const described: Delivery = { ...deliveryOf(profile, headers), key };
  if (delivery.priority !== undefined) described.priority = delivery.priority;
  if (delivery.retries !== undefined) described.retries = delivery.retries;
  if (delivery.maxWaitMs !== undefined) described.maxWaitMs = delivery.maxWaitMs;
  if (delivery.statusCode !== undefined) described.statusCode = delivery.statusCode;
  return described;
}
