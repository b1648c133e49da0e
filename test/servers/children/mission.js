// An Express receiver with a capacity of 400 and a drain rate of 200 deliveries per second.
import { setTimeout } from 'node:timers/promises';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express from 'express';

const HANDLING_MS = 10;
const SAMPLE_MS = 500;

const backpressure = webhookBackpressure({
  capacity: 400,
  maxStartsPerSecond: 200,
  // More than needed: the drain rate limits the starts.
  concurrency: 100,
  // The queue should stay at its capacity.
  highWaterMark: 1,
  lowWaterMark: 0.95,
});
const { intake } = backpressure;

let maxDepth = 0;
/** @type {number | undefined} */
let firstAtMs;
/** @type {number | undefined} */
let fullAtMs;
let lastStartAtMs = 0;
/** @type {{ rssMiB: number, heapMiB: number }[]} */
const memory = [];

intake.subscribe((event) => {
  if (event.type === 'started') lastStartAtMs = event.at;
});

const app = express();
app.use((req, res, next) => {
  firstAtMs ??= performance.now();
  next();
});
app.use(backpressure);
app.use(async (req, res) => {
  await setTimeout(HANDLING_MS);
  res.sendStatus(200);
});

const server = app.listen(0, () => {
  setInterval(sampleMemory, SAMPLE_MS);
  process.send?.({ address: server.address() });
});
// A listener added after the app sees the result of the request.
server.on('request', () => {
  const { depth, capacity } = intake.snapshot();
  maxDepth = Math.max(maxDepth, depth);
  if (depth >= capacity) fullAtMs ??= performance.now();
});

function sampleMemory() {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  memory.push({ rssMiB: Math.round(rss / 2 ** 20), heapMiB: Math.round(heapUsed / 2 ** 20) });
}

process.on('message', () => {
  const { depth, active, totals } = intake.snapshot();
  process.send?.({
    report: {
      depth,
      active,
      totals,
      maxDepth,
      fullAfterMs: (fullAtMs ?? Infinity) - (firstAtMs ?? 0),
      startingMs: lastStartAtMs - (firstAtMs ?? 0),
      memory,
    },
  });
});
