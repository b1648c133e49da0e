import { createHash } from 'node:crypto';
import type { DeliveryRef } from '@webhook-backpressure/core';

const HASH_BYTES = 16;

/**
 * What is remembered of an id. Of JSON no two pairs have the same, and neither do halves of a surrogate pair. To find two
 * ids with the same hash takes 2^64 attempts, and both would have to be one's own.
 */
export function idHash({ key, id }: DeliveryRef): Uint8Array {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, id]))
    .digest();
  return new Uint8Array(digest.buffer, digest.byteOffset, HASH_BYTES);
}
