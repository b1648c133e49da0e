import { createHash } from 'node:crypto';
import type { DeliveryRef } from '@webhook-backpressure/inbox';

const HEX_DIGITS = 32;

/**
 * Identifies a key and an id, as a `uuid`: 16 bytes of SHA-256. JSON keeps different pairs different, also with lone
 * surrogates. Finding two pairs with the same hash takes 2^64 attempts, and the sender would harm only itself.
 */
export function idHash({ key, id }: DeliveryRef): string {
  return createHash('sha256')
    .update(JSON.stringify([key, id]))
    .digest('hex')
    .slice(0, HEX_DIGITS);
}
