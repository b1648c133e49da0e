// A program with an inbox of several handlers, or of batches, that kills itself at the given call of the store. It notes
// each call of a handler in a file, and ends when nothing is pending.
import { appendFileSync } from 'node:fs';
import { createInbox } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [folder = '', shape, call, when, number] = process.argv.slice(2);
const COUNT = 40;
const store = sqliteStore({ path: `${folder}/webhooks.db` });
let calls = 0;

/** @param {string} name @param {string} at */
const die = (name, at) => {
  if (name !== call || at !== when) return;
  calls += 1;
  if (calls === Number(number)) process.kill(process.pid, 'SIGKILL');
};

const put = store.put.bind(store);
const settle = store.settle.bind(store);
const claimKeys = store.claimKeys.bind(store);
Object.assign(store, {
  /** @param {Parameters<typeof put>} args */
  put: async (...args) => {
    const name = args[0].some(({ delivery }) => delivery.handler !== undefined) ? 'split' : 'put';
    die(name, 'before');
    const results = await put(...args);
    die(name, 'after');
    return results;
  },
  /** @param {Parameters<typeof settle>} args */
  settle: async (...args) => {
    die('settle', 'before');
    const held = await settle(...args);
    die('settle', 'after');
    return held;
  },
  /** @param {Parameters<typeof claimKeys>} args */
  claimKeys: async (...args) => {
    const claims = await claimKeys(...args);
    die('claimKeys', 'after');
    return claims;
  },
});

/** @param {{ id: string }} delivery */
const note = ({ id }) => {
  appendFileSync(`${folder}/calls.txt`, `${id}\n`);
};
/** @type {{ processBatch: import('@webhook-backpressure/inbox').BatchHandler }} */
const batches = {
  processBatch: (deliveries) => {
    for (const [at, delivery] of deliveries.entries()) {
      note(delivery);
      if (at === 1) die('batch', 'during');
    }
  },
};
const inbox = createInbox({
  store,
  verify: false,
  concurrency: 4,
  ...(shape === 'batch' ? batches : { on: { '*:a': note, '*': note } }),
});
for (let at = 0; at < COUNT; at += 1) {
  await inbox.receive({
    headers: { 'webhook-id': String(at) },
    hint: '',
    read: (sink) => {
      sink.add(new TextEncoder().encode('{"type":"a"}'));
      return Promise.resolve('whole');
    },
  });
}
while (inbox.snapshot().depth > 0) await new Promise((resolve) => setTimeout(resolve, 5));
await inbox.close();
