import { createHash } from 'node:crypto';
import type { DeliveryRef } from '@webhook-backpressure/inbox';

const HASH_BYTES = 16;

/**
 * Identifies a completed delivery. JSON keeps different pairs of key and id different, also with lone surrogates. Finding
 * two ids with the same hash takes 2^64 attempts, and the sender would harm only itself.
 */
export function idHash({ key, id }: DeliveryRef): Uint8Array {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, id]))
    .digest();
  return new Uint8Array(digest.buffer, digest.byteOffset, HASH_BYTES);
}
