import { inject } from 'vitest';
import type { Found } from '../../test/postgres/global-setup.ts';
import type { FoundRedis } from '../../test/redis/global-setup.ts';

const postgres = (await (await fetch(inject('postgresAt'))).json()) as Found;
if (postgres.connectionString === undefined)
  console.warn(
    `SKIPPED: the projects that use PostgreSQL, because no server starts here.\n${postgres.problem}`,
  );
// For the programs of the projects, which inherit it.
else process.env['DATABASE_URL'] = postgres.connectionString;

const redis = (await (await fetch(inject('redisAt'))).json()) as FoundRedis;
if (redis.url === undefined)
  console.warn(`SKIPPED: the projects that use Redis, because no server starts here.\n${redis.problem}`);
else process.env['REDIS_URL'] = redis.url;

/** Whether no PostgreSQL starts on this machine. */
export const isPostgresSkipped: boolean = postgres.connectionString === undefined;
/** Whether no Redis starts on this machine. */
export const isRedisSkipped: boolean = redis.url === undefined;
