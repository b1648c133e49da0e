export type {
  BucketLimit,
  Buckets,
  BucketsEvent,
  BucketsOptions,
  TokenGrant,
} from '@webhook-backpressure/fleet';
