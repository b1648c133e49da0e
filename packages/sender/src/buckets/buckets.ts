export type {
  Buckets,
  BucketLimit,
  BucketsEvent,
  BucketsOptions,
  TokenGrant,
} from '@webhook-backpressure/core';
