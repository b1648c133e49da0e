// A process that shares buckets with others, always has something to start, and can be killed at any time. It writes each
// start to a file before it happens: the number of the endpoint, how many, and the time that all processes share.
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { systemClock } from '@webhook-backpressure/base';
import { redisBuckets } from '@webhook-backpressure/redis';
import { limitsOfAudit } from './limits-of-audit.js';

const [url = '', prefix = '', file = '', count = '0'] = process.argv.slice(2);
const client = new Redis(url, { enableOfflineQueue: false, lazyConnect: true, enableAutoPipelining: true });
await client.connect();
const buckets = redisBuckets(client, { prefix });
/** The last reading of the clock: the one by which tokens were found to be usable. */
let readingMs = 0;
const clock = {
  ...systemClock,
  now() {
    readingMs = systemClock.now();
    return readingMs;
  },
};
/** The time that all processes share, less that of this one. */
const aheadUs = Number(process.hrtime.bigint() / 1000n) - performance.now() * 1000;
buckets.open?.({ clock, listener: (event) => process.send?.(event) });
const log = openSync(file, 'a');
const record = Buffer.alloc(16);
/** No more than requests that may be in flight. */
const MOST = 200;

process.send?.('ready');
await Promise.all(limitsOfAudit(Number(count)).map((limit, endpoint) => use(endpoint, limit)));

/**
 * @param {number} endpoint
 * @param {import('@webhook-backpressure/fleet').BucketLimit} limit
 */
async function use(endpoint, limit) {
  for (;;) {
    const { taken, waitMs } = await buckets.take(`ep_${String(endpoint)}`, MOST, limit);
    // As a sender does, because other endpoints were served in the meantime.
    const usable = taken > 0 ? buckets.use?.(`ep_${String(endpoint)}`, taken, limit) : 0;
    const count = (typeof usable === 'object' ? await usable : usable) ?? 0;
    if (count > 0) {
      record.writeUInt32LE(endpoint, 0);
      record.writeUInt32LE(count, 4);
      // A process that is interrupted afterwards starts later than that, which no bucket can know.
      record.writeDoubleLE(readingMs * 1000 + aheadUs, 8);
      writeSync(log, record);
    }
    await setTimeout(Math.ceil(waitMs));
  }
}
