import { createHash, randomBytes } from 'node:crypto';
import { bodySum } from '@webhook-backpressure/inbox/store';
import type { StoredDelivery } from '@webhook-backpressure/inbox';

/** 128 bits: two deliveries have the same by accident or on purpose with a negligible probability only. */
const HASH_BYTES = 16;
const RANDOM_BYTES = 9;
const RADIX = 36;

/**
 * What BullMQ recognizes a repeated delivery by. A hash, because ids and keys are arbitrary strings of any length. The
 * key is part of it: ids are unique within a key only.
 */
export function deduplicationIdOf(key: string, id: string): string {
  const pair = JSON.stringify([key, id]);
  return createHash('sha256').update(pair).digest().subarray(0, HASH_BYTES).toString('base64url');
}

/**
 * A new id for the job of a delivery. BullMQ allows neither a colon nor an integer. Redis returns the id of the first job
 * for a repeated delivery, so it contains the sum of the body, to reveal that the bodies differ.
 */
export function newJobId(delivery: StoredDelivery): string {
  return `w${bodySum(delivery).toString(RADIX)}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

/** The sum of the body; undefined if {@link newJobId} has not returned the id. */
export function sumIn(jobId: string): number | undefined {
  const [, sum] = /^w([0-9a-z]+)\./.exec(jobId) ?? [];
  return sum === undefined ? undefined : Number.parseInt(sum, RADIX);
}
