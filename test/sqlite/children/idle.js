// A program that opens an inbox, takes a delivery and then has nothing left to do. What it does at its end is told to it.
import { createInbox } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [path, end] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
const inbox = createInbox({
  store: sqliteStore({ path, thread: true }),
  verify: false,
  // It never ends, so the delivery stays in hand.
  process: () => new Promise(() => undefined),
});
const answer = await inbox.receive({
  headers: { 'webhook-id': 'a' },
  hint: '',
  read: (sink) => {
    sink.add(new Uint8Array(50_000));
    return Promise.resolve('whole');
  },
});
if (end === 'close') await inbox.close({ timeoutMs: 0 });
console.log(answer?.status);
if (end === 'exit') process.exit();
