import { createServer } from 'node:http';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { fill } from './backlog.ts';

type Receiver = ReturnType<typeof webhookInbox>;

let current: Receiver | undefined;

/** GET: how much is stored and unfinished. POST: a delivery. */
const server = createServer((req, res) => {
  if (req.method === 'POST') current?.(req, res);
  else res.end(String(current?.inbox.snapshot().depth));
});

type Question = 'start' | 'close' | { readonly path: string; readonly backlog: number };

/** `start`: the port. A path: a receiver with ten workers and a backlog opens there. `close`: what it completed. */
answer(async (question: Question): Promise<number> => {
  if (question === 'start') return listen(server);
  if (question === 'close') {
    const completed = current?.inbox.snapshot().totals.completed ?? 0;
    await current?.inbox.close();
    current = undefined;
    return completed;
  }
  const { path, backlog } = question;
  if (backlog > 0) await fill(path, backlog);
  current = webhookInbox({
    store: sqliteStore({ path }),
    verify: false,
    process: () => new Promise((resolve) => setImmediate(resolve)),
    concurrency: 10,
    capacity: 1e9,
    maxBytes: 1e13,
  });
  return 0;
});
