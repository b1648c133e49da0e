// Compiled and never run: clients of both libraries, without a cast.
import type { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { redisRegistry } from '@webhook-backpressure/redis';

export function withEach(redis: Redis, cluster: Cluster): void {
  redisRegistry(redis);
  redisRegistry(cluster);
  redisRegistry(createClient());
  redisRegistry(createClient({ RESP: 3 }));
  redisRegistry(createCluster({ rootNodes: [] }), { prefix: 'shop' });
  redisRegistry(createClientPool());
  redisRegistry(createSentinel({ name: 'main', sentinelRootNodes: [] }));
  // @ts-expect-error -- no client
  redisRegistry('redis://localhost');
}
