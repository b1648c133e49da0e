import { createServer, type RequestListener } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { ampleInbox } from './ample.ts';
import { countStored, queues, type DurableQueue } from './queues.ts';
import { ID_HEADER } from './sample.ts';

const LOOK_MS = 5;

/** What answers the requests, on one file. */
interface Receiver {
  readonly listener: RequestListener;
  close(): unknown;
}

function ours(path: string): Receiver {
  const listener = webhookInbox(ampleInbox(path));
  return { listener, close: () => listener.inbox.close({ timeoutMs: 0 }) };
}

/** Reads the body, stores, and answers: what one writes around a queue by hand. */
function theirs(queue: DurableQueue): Receiver {
  const listener: RequestListener = (req, res) => {
    const chunks: Buffer[] = [];
    const store = async (): Promise<void> => {
      const body = Buffer.concat(chunks).toString();
      await queue.store({ id: String(req.headers[ID_HEADER]), headers: req.headers, body });
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"accepted"}');
    };
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      store().catch(() => res.writeHead(503).end());
    });
  };
  return {
    listener,
    close: () => {
      queue.close();
    },
  };
}

function open(side: string, path: string): Receiver {
  if (side === 'ours') return ours(path);
  const queue = queues.get(side);
  if (queue === undefined) throw new Error(`There is no side ${side}.`);
  return theirs(queue(path));
}

const [side = ''] = process.argv.slice(2);
let current: Receiver | undefined;
let currentPath = '';
const server = createServer((req, res) => {
  if (req.url === '/healthz') res.end('ok');
  else current?.listener(req, res);
});
/** How long the loop stood still, in ns; what it counts itself is the millisecond between two looks. */
const loop = monitorEventLoopDelay({ resolution: 1 });

/** What a client sent before it hung up is still read, and must not end up in the file of the next turn. */
async function allGone(): Promise<void> {
  const count = promisify(server.getConnections.bind(server));
  while ((await count()) > 0) await setTimeout(LOOK_MS);
}

type Question = 'start' | 'close' | 'watch' | 'blocked' | { readonly path: string };

/** `start`: the port. A path: from then on what arrives is stored there. `close`: how many are stored there.
 * `watch`, and later `blocked`: the longest time in between for which the event loop stood still, in ms. */
answer(async (question: Question): Promise<number> => {
  if (question === 'start') return listen(server);
  if (question === 'watch') {
    loop.reset();
    loop.enable();
    return 0;
  }
  if (question === 'blocked') {
    loop.disable();
    return loop.max / 1e6;
  }
  if (question === 'close') {
    await allGone();
    await current?.close();
    current = undefined;
    return countStored(currentPath);
  }
  currentPath = question.path;
  current = open(side, question.path);
  return 0;
});
