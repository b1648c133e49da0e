// A worker with limits of keys, on PostgreSQL and with shared buckets, that can be killed at any time. It writes each start
// and each end of a handler to a file: the key, whether it is a start, and the time that all processes share.
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { systemClock } from '@webhook-backpressure/base';
import { createWorker } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { redisBuckets } from '@webhook-backpressure/redis';
import { LIMITED_KEYS } from './limited-keys.js';

const [connectionString = '', schema = '', url = '', prefix = '', file = ''] = process.argv.slice(2);
const client = new Redis(url, { enableOfflineQueue: false, lazyConnect: true, enableAutoPipelining: true });
await client.connect();
/** The last reading of the clock: the one by which the token was found to be usable. */
let readingMs = 0;
const clock = {
  ...systemClock,
  now() {
    readingMs = systemClock.now();
    return readingMs;
  },
};
/** The time that all processes share, less that of this one: the reading during which the process was not interrupted. */
const aheadUs = Math.min(
  ...Array.from({ length: 100 }, () => {
    const mineUs = performance.now() * 1000;
    return Number(process.hrtime.bigint() / 1000n) - mineUs;
  }),
);
const log = openSync(file, 'a');
const record = Buffer.alloc(16);
const names = Object.keys(LIMITED_KEYS);

/**
 * @param {string} key
 * @param {number} isStart
 */
function note(key, isStart) {
  record.writeUInt32LE(names.indexOf(key), 0);
  record.writeUInt32LE(isStart, 4);
  record.writeDoubleLE(readingMs * 1000 + aheadUs, 8);
  writeSync(log, record);
}

const worker = createWorker({
  store: postgresStore({ connectionString }, { schema }),
  clock,
  concurrency: 30,
  capacity: 1_000_000,
  limits: (key) => LIMITED_KEYS[key],
  buckets: redisBuckets(client, { prefix }),
  process: async ({ key }) => {
    note(key, 1);
    await setTimeout(5 + Math.random() * 30);
    clock.now();
    note(key, 0);
  },
});
worker.subscribe(() => undefined);
await worker.opened;
process.send?.('ready');
