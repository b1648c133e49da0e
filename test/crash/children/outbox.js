// The process that the tests kill: a sender, and a program that sends events without a pause. It logs each step.
import { openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { postgresStore } from '@webhook-backpressure/postgres';
import { createSender } from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('the settings are missing');
/** @type {unknown} */
const settings = JSON.parse(given);
const { store, log, life, url, secret, endpoints, maxInFlight, capacity, isLast } =
  /** @type {import('../outbox-life.ts').OutboxSettings} */ (settings);

// A line is one append. Written data belongs to the kernel and survives SIGKILL without fsync.
const lines = openSync(log, 'a+');
/**
 * @param {'begin' | 'stored'} what
 * @param {string} id
 */
const note = (what, id) => writeSync(lines, `${JSON.stringify([what, id])}\n`);

const sender = createSender({
  store:
    'path' in store
      ? sqliteStore(store)
      : postgresStore({ connectionString: store.connectionString }, { schema: store.schema }),
  endpoint: (id) => ({
    url: `${url}/${id}?life=${String(life)}`,
    secret,
    rate: { perSecond: 10_000 },
    burst: 10_000,
    maxInFlight,
  }),
  allowPrivateAddresses: true,
  capacity,
  retry: { firstDelayMs: 1, maxDelayMs: 50 },
});

/** The events of earlier lives whose `send` did not resolve, which a careful program sends again. */
function uncertain() {
  /** @type {Set<string>} */
  const begun = new Set();
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    /** @type {unknown} */
    const step = JSON.parse(line);
    const [what, id] = /** @type {['begin' | 'stored', string]} */ (step);
    if (what === 'begin') begun.add(id);
    else begun.delete(id);
  }
  return [...begun];
}

/** @param {string} id */
async function send(id) {
  note('begin', id);
  const number = Number(id.slice(id.indexOf('-') + 1));
  await sender.send({ endpoint: `ep${String(number % endpoints)}`, type: 'test', data: { id }, id });
  note('stored', id);
}

const CONCURRENT = 16;
const LOOK_MS = 20;
const again = uncertain();
await sender.opened;
process.send?.({ began: true });
await Promise.all(again.map(send));
if (isLast) {
  while (sender.snapshot().depth > 0) await setTimeout(LOOK_MS);
  process.send?.({ drained: true });
} else {
  let next = 0;
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      for (;;) await send(`${String(life)}-${String(next++)}`);
    }),
  );
}
