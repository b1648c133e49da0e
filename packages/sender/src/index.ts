export { BackpressureError, systemClock, type Clock } from '@webhook-backpressure/base';
export { memoryStore } from '@webhook-backpressure/inbox';
export type * from '@webhook-backpressure/fleet';
export type * from '@webhook-backpressure/inbox';
export type * from '@webhook-backpressure/observe';
export { parseRetryAfter } from './answers/retry-after.ts';
export {
  tokenBucket,
  type TokenBucket,
  type TokenBucketLimit,
  type TokenBucketOptions,
  type TokensTaken,
} from './buckets/token-bucket.ts';
export type { ApiLimit, ApiLimits, NamedApiLimit } from './calls/api-limits.ts';
export { limitedFetch, type LimitedFetchOptions } from './calls/limited-fetch.ts';
export type { BatchOptions, Endpoint } from './options/endpoint-settings.ts';
export type { EndpointLimits } from './options/rates.ts';
export type { SenderOptions, SenderRetryOptions } from './options/sender-options.ts';
export type { OutgoingEvent, SendResult } from './outbox/outgoing-event.ts';
export { publicKeySet, type PublicKey } from './requests/signatures.ts';
export { createSender, type Sender } from './sender.ts';
