// A receiver that shares its file with others. Each of its senders sends a fixed number of deliveries one after another
// to an inbox whose store may wait for locks. Prints a report.
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { createInbox } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

/** @typedef {{ path: string, name: string, senders: number, each: number }} Task */

/** @param {Task} task */
async function receive({ path, name, senders, each }) {
  const beganAt = performance.now();
  const inbox = createInbox({
    store: sqliteStore({ path }),
    verify: false,
    concurrency: 10,
    capacity: 1e6,
    process: () => new Promise((resolve) => void setImmediate(resolve)),
  });
  const openedMs = performance.now() - beganAt;
  const body = new Uint8Array(1000);
  /** @type {Record<string, number>} */
  let answers = {};
  /** @type {Record<string, number>} */
  const failures = {};
  inbox.subscribe((event) => {
    if (event.type !== 'store-failed') return;
    const why = `${event.call} ${/ERR_WBP_\w+/.exec(event.error)?.[0] ?? event.error}`;
    failures[why] = (failures[why] ?? 0) + 1;
  });
  let longestMs = 0;
  /** @param {string} id */
  const send = async (id) => {
    const sentAt = performance.now();
    const answer = await inbox.receive({
      headers: { 'webhook-id': id },
      hint: '',
      read: (sink) => {
        sink.add(body);
        return Promise.resolve('whole');
      },
    });
    longestMs = Math.max(longestMs, performance.now() - sentAt);
    const status = String(answer?.status);
    answers[status] = (answers[status] ?? 0) + 1;
    // Roughly as a sender does.
    if (answer?.status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // As with a load balancer, no delivery arrives before the receiver is ready.
  while (answers['200'] === undefined) await send(`${name}-ready`);
  answers = {};
  const loops = Array.from({ length: senders }, async (_, sender) => {
    for (let at = 0; at < each; at += 1) await send(`${name}-${String(sender)}-${String(at)}`);
  });
  await Promise.all(loops);
  const tookMs = performance.now() - beganAt;
  await inbox.close({ timeoutMs: 10_000 });
  console.log(JSON.stringify({ name, openedMs, tookMs, longestMs, answers, failures }));
}

if (isMainThread) {
  const [path = '', name = '', senders = '', each = '', where = ''] = process.argv.slice(2);
  const task = { path, name, senders: Number(senders), each: Number(each) };
  if (where === 'main') await receive(task);
  else new Worker(fileURLToPath(import.meta.url), { workerData: task });
} else {
  /** @type {unknown} */
  const task = workerData;
  await receive(/** @type {Task} */ (task));
}
