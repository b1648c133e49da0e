// A receiver without workers, or workers without a receiver, on a file that both share.
import { createServer } from 'node:http';
import { closeOnSignals, createWorker, webhookInbox } from '@webhook-backpressure/node';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const [role, path, tookMs] = process.argv.slice(2);
if (path === undefined) throw new Error('the path is missing');
const store = sqliteStore({ path });
/** @param {object} message */
const tell = (message) => process.send?.(message);
const onClosed = (/** @type {object} */ report) => tell({ closed: report });

if (role === 'worker') {
  const worker = createWorker({
    store,
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
  const webhooks = webhookInbox({ store, verify: false });
  const server = createServer((req, res) => {
    webhooks(req, res);
  });
  closeOnSignals(webhooks.inbox, { server, onClosed });
  await webhooks.inbox.opened;
  server.listen(0, '127.0.0.1', () => tell({ address: server.address() }));
}
