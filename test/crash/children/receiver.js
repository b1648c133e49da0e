// The process that the tests kill: Express and an inbox, or workers. Its handler logs each step before taking it.
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { createWorker } from '@webhook-backpressure/inbox';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { github, reconcile } from '@webhook-backpressure/reconcile';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

/**
 * Tells the handler what to do.
 *
 * @typedef {{ tookMs?: number, does?: 'hang' | 'kill' }} Wish
 */

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('the settings are missing');
/** @type {unknown} */
const settings = JSON.parse(given);
const {
  role,
  store,
  log,
  life,
  aheadMs = 0,
  concurrency,
  attempts,
  maxHandlingMs,
  api,
} = /** @type {import('../receiver.ts').LifeSettings} */ (settings);

const trueNow = Date.now;
Date.now = () => trueNow() + aheadMs;

// A line is one append, so the lines of two processes never mix. Written data belongs to the kernel and survives SIGKILL
// without fsync; only a crash of the machine would lose it.
const lines = openSync(log, 'a');
/**
 * @param {'started' | 'ended'} type
 * @param {import('@webhook-backpressure/inbox').InboxDelivery} delivery
 */
const note = (type, { key, id }) =>
  writeSync(lines, `${JSON.stringify({ type, key, id, worker: String(life), atMs: trueNow() })}\n`);

const stored = {
  store:
    'path' in store
      ? sqliteStore(store)
      : postgresStore({ connectionString: store.connectionString }, { schema: store.schema }),
};
const worker = {
  concurrency,
  maxHandlingMs,
  retry: { attempts, firstDelayMs: 1, maxDelayMs: 50 },
  /** @param {import('@webhook-backpressure/inbox').InboxDelivery} delivery */
  process: async (delivery) => {
    note('started', delivery);
    const { tookMs = 0, does } = /** @type {Wish} */ (delivery.json());
    if (does === 'kill') process.kill(process.pid, 'SIGKILL');
    if (does !== undefined) await new Promise(() => undefined);
    await setTimeout(tookMs);
    note('ended', delivery);
  },
};

/** @returns {import('@webhook-backpressure/inbox').Inbox} */
function begin() {
  if (role === 'worker') {
    const workers = createWorker({ ...stored, ...worker });
    process.send?.({ address: null });
    return workers;
  }
  const webhooks =
    role === 'receiver'
      ? webhookInbox({ ...stored, verify: false })
      : webhookInbox({ ...stored, ...worker, verify: false });
  const app = express();
  app.post('/webhooks', webhooks);
  const server = app.listen(0, '127.0.0.1', () => process.send?.({ address: server.address() }));
  return webhooks.inbox;
}

/**
 * Fetches missed events, on a clock that is faster than that of the system.
 *
 * @param {import('../receiver.ts').ApiSettings} of
 */
function beginReconciling({ url, token, hook, speed, startMs }) {
  return reconcile({
    inbox,
    source: github({ token, hook, baseUrl: url }),
    clock: {
      now: () => speed * performance.now(),
      setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms / speed).unref(),
      clearTimeout: (timer) => {
        globalThis.clearTimeout(/** @type {NodeJS.Timeout | undefined} */ (timer));
      },
    },
    wallClock: () => startMs + speed * (trueNow() - startMs),
  });
}

const inbox = begin();
const reconciler = api && beginReconciling(api);
const LOOK_MS = 20;

async function drained() {
  for (let isComplete = reconciler === undefined; !isComplete;) {
    const { missed, error } = (await reconciler?.run()) ?? {};
    isComplete = missed === 0 && error === undefined;
  }
  while (inbox.snapshot().depth > 0) await setTimeout(LOOK_MS);
  process.send?.({ drained: true });
}
process.on('message', () => void drained());
