// A receiver without workers, or workers without a receiver, on a file that both share.
import { createServer } from 'node:http';
import { closeOnSignals } from '@webhook-backpressure/node';
import { createInbox } from '@webhook-backpressure/inbox';
import { createWorker, webhookInbox } from '@webhook-backpressure/node/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [role, path, tookMs] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
/** @param {object} message */
const tell = (message) => process.send?.(message);
const onClosed = (/** @type {object} */ report) => tell({ closed: report });

if (role === 'unopened') {
  const away = () => Promise.reject(new Error('away'));
  const inbox = createInbox({
    store: { open: away, put: away, stats: away, close: () => undefined },
    verify: false,
  });
  const alive = setInterval(() => undefined, 1000);
  // Then the next try is 200 ms away.
  let failures = 0;
  await new Promise((resolve) => {
    inbox.subscribe(({ type }) => {
      if (type === 'store-failed' && (failures += 1) === 2) resolve(undefined);
    });
  });
  clearInterval(alive);
  tell({ closed: await inbox.close() });
} else if (role === 'worker') {
  const worker = createWorker({
    store: sqliteStore({ path }),
    process: ({ id }) => {
      tell({ started: id });
      return new Promise((resolve) => {
        setTimeout(() => {
          tell({ handled: id });
          resolve(undefined);
        }, Number(tookMs));
      });
    },
  });
  closeOnSignals(worker, { onClosed });
  void worker.opened.then(() => tell({ opened: true }));
} else {
  const webhooks = webhookInbox({ store: sqliteStore({ path }), verify: false });
  const server = createServer((req, res) => {
    webhooks(req, res);
  });
  closeOnSignals(webhooks.inbox, { server, onClosed });
  await webhooks.inbox.opened;
  server.listen(0, '127.0.0.1', () => tell({ address: server.address() }));
}
