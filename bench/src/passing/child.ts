import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { frameworks } from './kinds.ts';
import type { Kind } from './plan.ts';

/** One kind in this process: several apps in one process would change each other's inline caches. */
const [framework = '', kind = ''] = process.argv.slice(2);

const WARM_UP = 30_000;
const ROUNDS = 20;
const PER_ROUND = 5000;

/** As Shopify sends it, shortened; without a body, so that nothing is read. */
const HEADERS = {
  host: 'example.com',
  'content-type': 'application/json',
  'user-agent': 'Shopify-Captain-Hook',
  'x-shopify-topic': 'orders/create',
  'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  'x-shopify-hmac-sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
  'content-length': '0',
};

/** A connection that discards what is written. */
class Discarding extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  override _read(): void {
    // Nothing is sent.
  }
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
  setTimeout(): void {
    // Nothing takes time.
  }
}

const listener = frameworks[framework]?.(kind as Kind);
if (listener === undefined) throw new Error(`There is no framework ${framework}.`);
await microseconds(listener, WARM_UP);
let least = Infinity;
for (let round = 0; round < ROUNDS; round += 1) {
  least = Math.min(least, await microseconds(listener, PER_ROUND));
}
process.stdout.write(`${String(least)}\n`);
process.exit();

/** Processor time per request. */
async function microseconds(answer: RequestListener, count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) await request(answer);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function request(answer: RequestListener): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new Discarding() as unknown as Socket;
    const req = new IncomingMessage(socket);
    req.method = 'POST';
    req.url = '/webhooks';
    req.httpVersionMajor = 1;
    req.httpVersionMinor = 1;
    req.httpVersion = '1.1';
    req.headers = { ...HEADERS };
    req.complete = true;
    req.push(null);
    const res = new ServerResponse(req);
    res.assignSocket(socket);
    res.on('finish', () => {
      if (res.statusCode !== 200) reject(new Error(`${framework}, ${kind}: ${String(res.statusCode)}.`));
      // What the server of node does.
      res.detachSocket(socket);
      res.emit('close');
      resolve();
    });
    answer(req, res);
  });
}
