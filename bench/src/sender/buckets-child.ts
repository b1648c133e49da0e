import { systemClock } from '@webhook-backpressure/base';
import { LocalBuckets } from '@webhook-backpressure/fleet';
import { redisBuckets } from '@webhook-backpressure/redis';
import { Redis } from 'ioredis';
import { setTimeout as wait } from 'node:timers/promises';
import { answer } from '../pinned.ts';

const ENDPOINTS = 1000;
const CALLS = 2_000_000;
const AMPLE = { amount: 1_000_000, periodMs: 1000, burst: 1_000_000 };
const SHARED_ENDPOINTS = 100;
/** Of each endpoint: in all, the endpoints allow ten times what is asked for. */
const SHARED = { amount: 100, periodMs: 1000, burst: 100 };
const TICK_MS = 4;

/** The orders of a process. */
export type Order =
  'local' | { readonly redisPort: number; readonly seconds: number; readonly perSecond: number };

/** Nanoseconds of a call that takes a token, of the bucket of another endpoint each time. */
function localNs(): number {
  const buckets = new LocalBuckets();
  buckets.open({ clock: systemClock });
  const names = Array.from({ length: ENDPOINTS }, (_, at) => `ep_${String(at)}`);
  let taken = 0;
  const begin = performance.now();
  for (let at = 0; at < CALLS; at += 1) taken += buckets.take(names[at % ENDPOINTS] ?? '', 1, AMPLE).taken;
  const ns = ((performance.now() - begin) * 1e6) / CALLS;
  if (taken !== CALLS) throw new Error(`${String(CALLS - taken)} tokens were missing.`);
  return ns;
}

/** How long each call takes, in milliseconds, while so many are made per second. */
async function sharedMs({
  redisPort,
  seconds,
  perSecond,
}: Exclude<Order, string>): Promise<readonly number[]> {
  const client = new Redis(redisPort);
  const buckets = redisBuckets(client);
  const took: number[] = [];
  const call = async (): Promise<void> => {
    const name = `ep_${String(Math.floor(Math.random() * SHARED_ENDPOINTS))}`;
    const begin = performance.now();
    await buckets.take(name, 1, SHARED);
    took.push(performance.now() - begin);
  };
  const begin = performance.now();
  const calls: Promise<void>[] = [];
  while (performance.now() - begin < 1000 * seconds) {
    const due = ((performance.now() - begin) / 1000) * perSecond;
    while (calls.length < due) calls.push(call());
    await wait(TICK_MS);
  }
  await Promise.all(calls);
  buckets.close?.();
  client.disconnect();
  // The first second connects and compiles.
  return took.slice(perSecond);
}

answer((order: Order): number | Promise<readonly number[]> => {
  if (order !== 'local') return sharedMs(order);
  localNs();
  return localNs();
});
