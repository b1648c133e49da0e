// A program that opens an inbox and receives a delivery. Its second argument says how it ends: idle, close or exit.
import { createInbox } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [path, end] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
const inbox = createInbox({
  store: sqliteStore({ path, thread: true }),
  verify: false,
  // Never ends, so the delivery stays claimed.
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
