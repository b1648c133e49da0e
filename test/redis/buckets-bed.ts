import type { Buckets, BucketsEvent } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { redisBuckets, type RedisClient } from '@webhook-backpressure/redis';
import type { Redis } from 'ioredis';
import type { BucketsBed } from '../sender/buckets/buckets-suite.ts';
import { redisPrefix } from './bed.ts';

/**
 * Moves the times of all keys into the past. None expires: a process would conclude that the server lost it, because the
 * clock of the server was not moved.
 */
const AGE = `
local us = tonumber(ARGV[2]) * 1000
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':bucket:*')) do
  local ttl = redis.call('PTTL', key) - tonumber(ARGV[2])
  local head, at, middle, till, paused = string.match(redis.call('GET', key), '^(1) (%d+) (.*) (%d+) (%d+)$')
  local value = string.format('1 %.0f %s %.0f %.0f', at - us, middle, math.max(0, till - us), math.max(0, paused - us))
  redis.call('SET', key, value, 'PX', string.format('%.0f', math.max(ttl, 10000)))
end
local processes = ARGV[1] .. ':processes'
for _, process in ipairs(redis.call('ZRANGE', processes, 0, -1)) do
  redis.call('ZINCRBY', processes, -ARGV[2], process)
end`;

/** Buckets in a Redis whose time can be moved. */
export interface RedisBucketsBed extends BucketsBed {
  readonly prefix: string;
  readonly events: BucketsEvent[];
  /** Lets a script of the same connection be answered, and what follows it run. */
  settle(): Promise<void>;
  /** Moves the clock of the processes only. */
  pass(ms: number): Promise<void>;
  /** The same without waiting for the server. */
  passNow(ms: number): void;
}

/** @param admin - another client of the same server. */
export function redisBucketsBed(client: RedisClient, admin: Redis): RedisBucketsBed {
  const prefix = redisPrefix();
  const clock = manualClock();
  const events: BucketsEvent[] = [];
  const opened: Buckets[] = [];
  const settle = async (): Promise<void> => {
    if ('defineCommand' in client) await client.eval('return 1', 0).catch(() => undefined);
    else await client.eval('return 1', { keys: [], arguments: [] }).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  return {
    prefix,
    events,
    settle,
    pass,
    passNow(ms) {
      clock.advance(ms);
    },
    async open() {
      const buckets = redisBuckets(client, { prefix });
      buckets.open?.({ clock, listener: (event) => events.push(event) });
      opened.push(buckets);
      await pass(0);
      return buckets;
    },
    async advance(ms) {
      await settle();
      await admin.eval(AGE, 0, prefix, String(ms));
      // In steps, or everything under way would be late.
      for (let left = ms; left > 0; left -= 60) {
        clock.advance(Math.min(60, left));
        if (left > ms - 600 || left < 600) await settle();
        if (left > 1300) {
          clock.jump(left - 1200);
          left = 1200;
        }
      }
    },
    async dispose() {
      for (const buckets of opened) buckets.close?.();
      await settle();
      expectNothingLeft(clock.pending);
    },
  };
}

function expectNothingLeft(pending: number): void {
  if (pending > 0) throw new Error(`${String(pending)} timers are left after close().`);
}
