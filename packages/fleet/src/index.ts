export { Beats } from './beats.ts';
export type { BucketLimit, Buckets, BucketsEvent, BucketsOptions, TokenGrant } from './buckets/buckets.ts';
export { checkBuckets } from './buckets/buckets.ts';
export { LocalBuckets } from './buckets/local-buckets.ts';
export { fractionOfRate, limitOf, type RateFraction, reduced } from './buckets/rates.ts';
export { TokenLevel } from './buckets/token-level.ts';
export type { FleetOptions } from './fleet-options.ts';
export { type Fleet, joinFleet } from './join-fleet.ts';
export { jsonOf, memberId, newsTextOf } from './member-state.ts';
export { memoryRegistry } from './memory-registry.ts';
export {
  type FleetBeat,
  type FleetMember,
  type FleetNews,
  type FleetRegistry,
  type FleetView,
  MEMBER_MS,
} from './registry.ts';
