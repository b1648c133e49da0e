// The receiver that the tests kill: Express, an inbox on SQLite, and a handler that logs each step before taking it.
import { openSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { webhookInbox } from '@webhook-backpressure/express';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import express from 'express';

/**
 * Tells the handler what to do.
 *
 * @typedef {{ tookMs?: number, does?: 'hang' | 'kill' }} Wish
 */

const [file, log, settings] = process.argv.slice(2);
if (file === undefined || log === undefined || settings === undefined)
  throw new Error('arguments are missing');
/** @type {unknown} */
const given = JSON.parse(settings);
const options = /** @type {{ concurrency: number, attempts: number, maxHandlingMs: number }} */ (given);

// A line is one append, so the lines of two processes never mix. Written data belongs to the kernel and survives SIGKILL
// without fsync; only a crash of the machine would lose it.
const lines = openSync(log, 'a');
/** @param {readonly unknown[]} fields */
const note = (...fields) => writeSync(lines, `${JSON.stringify(fields)}\n`);
note('life');

const webhooks = webhookInbox({
  store: sqliteStore({ path: file }),
  verify: false,
  concurrency: options.concurrency,
  maxHandlingMs: options.maxHandlingMs,
  retry: { attempts: options.attempts, firstDelayMs: 1, maxDelayMs: 50 },
  process: async (delivery, { attempt }) => {
    note('start', delivery.id, attempt);
    const { tookMs = 0, does } = /** @type {Wish} */ (delivery.json());
    if (does === 'kill') process.kill(process.pid, 'SIGKILL');
    if (does !== undefined) await new Promise(() => undefined);
    await setTimeout(tookMs);
    note('end', delivery.id, attempt);
  },
});

const app = express();
app.post('/webhooks', webhooks);
const server = app.listen(0, '127.0.0.1', () => process.send?.({ address: server.address() }));

const LOOK_MS = 20;

async function drained() {
  while (webhooks.inbox.snapshot().depth > 0) await setTimeout(LOOK_MS);
  process.send?.({ drained: true });
}
process.on('message', () => void drained());
