import { LocalBuckets } from '@webhook-backpressure/fleet';
import type { Buckets } from './buckets.ts';

/** Buckets of this process. */
export function localBuckets(): Buckets {
  return new LocalBuckets();
}
