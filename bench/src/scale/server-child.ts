import { createServer } from 'node:http';
import { withBackpressure } from '@webhook-backpressure/node';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';

/** The receiver, looked at from within. */
export interface Sample {
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly processorSeconds: number;
  readonly depth: number;
  readonly active: number;
  /** The most by which the totals failed to add up since the last look. */
  readonly drift: number;
  readonly admitted: number;
  readonly completed: number;
  readonly refused: number;
  /** What keeps the event loop busy: timers, sockets, servers. */
  readonly handles: number;
}

const DRIFT_EVERY_MS = 100;
const CONCURRENCY = 10;
const [handlingMs = 10, capacity = 50] = process.argv.slice(2).map(Number);

const listener = withBackpressure(
  (_req, res) => {
    setTimeout(() => res.writeHead(204).end(), handlingMs);
  },
  { concurrency: CONCURRENCY, capacity },
);
const { intake } = listener;
const server = createServer(listener);

let drift = 0;
setInterval(() => {
  drift = Math.max(drift, driftNow());
}, DRIFT_EVERY_MS).unref();

function driftNow(): number {
  const { depth, active, totals } = intake.snapshot();
  const { admitted, completed, failed, withdrawn } = totals;
  return Math.abs(admitted - completed - failed - active - depth - sumOf(withdrawn));
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

function sample(): Sample {
  const { depth, active, totals } = intake.snapshot();
  const { rss, heapUsed } = process.memoryUsage();
  const since = Math.max(drift, driftNow());
  drift = 0;
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    processorSeconds: processorSeconds(),
    depth,
    active,
    drift: since,
    admitted: totals.admitted,
    completed: totals.completed,
    refused: sumOf(totals.refused),
    handles: process.getActiveResourcesInfo().length,
  };
}

/** After the load: lets all end, and collects. */
async function settle(): Promise<Sample> {
  server.closeAllConnections();
  while (intake.snapshot().active + intake.snapshot().depth > 0) {
    await new Promise((resolve) => setTimeout(resolve, DRIFT_EVERY_MS));
  }
  // The timers of what was refused last, and of its connections.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  globalThis.gc?.();
  globalThis.gc?.();
  return sample();
}

answer(async (question: 'start' | 'sample' | 'settle'): Promise<number | Sample> => {
  if (question === 'sample') return sample();
  if (question === 'settle') return settle();
  return listen(server);
});
