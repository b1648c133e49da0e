export { BackpressureError, type Clock, RetryAfter, systemClock } from '@webhook-backpressure/base';
export type {
  BucketLimit,
  Buckets,
  BucketsEvent,
  BucketsOptions,
  TokenGrant,
} from '@webhook-backpressure/fleet';
export type { ApiLimit, ApiLimits, NamedApiLimit } from './calls/api-limits.ts';
export { limitedFetch, type LimitedFetchOptions } from './calls/limited-fetch.ts';
