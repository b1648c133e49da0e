import { inject } from 'vitest';
import type { FoundRedis } from './global-setup.ts';

const found = (await (await fetch(inject('redisAt'))).json()) as FoundRedis;
if (found.url === undefined)
  console.warn(`SKIPPED: the tests of Redis, because no server starts here.\n${found.problem}`);

/** Whether no Redis starts on this machine. */
export const isRedisSkipped: boolean = found.url === undefined;

/** The server that all tests of a run share. A test that stops or floods a server starts a `RedisServer` for itself. */
export const redisUrl: string = found.url ?? 'redis://nowhere.invalid/';

let prefixes = 0;

/** A prefix for the keys of one test, which no other test of the run uses. */
export function redisPrefix(): string {
  prefixes += 1;
  return `test-${String(process.pid)}-${String(prefixes)}`;
}
