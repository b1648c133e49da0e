export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.ts';
export { redisBuckets, type RedisBucketsOptions } from './redis-buckets.ts';
export { redisRegistry, type RedisRegistryOptions } from './redis-registry.ts';
