export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.ts';
export { redisRegistry, type RedisRegistryOptions } from './redis-registry.ts';
