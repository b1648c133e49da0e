export type { Buckets, BucketLimit, BucketsEvent, TokenGrant } from '@webhook-backpressure/core';
