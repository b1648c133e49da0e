export * from '@webhook-backpressure/core';
export type {
  BatchOptions,
  Endpoint,
  EndpointLimits,
  SenderOptions,
  SenderRetryOptions,
} from './options/sender-options.ts';
export { createSender } from './create-sender.ts';
export { parseRetryAfter } from './answers/retry-after.ts';
export {
  tokenBucket,
  type TokenBucket,
  type TokenBucketLimit,
  type TokenBucketOptions,
  type TokensTaken,
} from './buckets/token-bucket.ts';
export type { OutgoingEvent, SendResult } from './outbox/outgoing-event.ts';
export type { Sender } from './sender.ts';
