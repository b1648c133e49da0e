import { createServer } from 'node:http';
import { TokenLevel } from '@webhook-backpressure/fleet';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { ANSWER_MS, BURST, PER_SECOND } from './setup.ts';

/** What the API has seen since the last question. */
export interface Seen {
  readonly accepted: number;
  readonly refused: number;
  /** From the first call to the last accepted one. */
  readonly seconds: number;
}

const LIMIT = { amount: PER_SECOND, periodMs: 1000, burst: BURST };
/** As GitHub words it, because Octokit reads the body. */
const BODY = JSON.stringify({ message: 'You have exceeded a secondary rate limit.' });

let level = new TokenLevel(LIMIT, performance.now());
let [accepted, refused, firstMs, lastMs] = [0, 0, 0, 0];

const server = createServer((_, response) => {
  const nowMs = performance.now();
  if (accepted + refused === 0) firstMs = nowMs;
  response.setHeader('content-type', 'application/json');
  if (level.take(1, nowMs) === 1) {
    accepted += 1;
    lastMs = nowMs;
    setTimeout(() => response.end('{}'), ANSWER_MS);
    return;
  }
  refused += 1;
  const seconds = Math.ceil(level.waitMs(1, nowMs) / 1000);
  response.writeHead(429, { 'retry-after': String(seconds) }).end(BODY);
});

answer(async (question: 'start' | 'begin' | 'report'): Promise<unknown> => {
  if (question === 'start') return listen(server);
  if (question === 'report') return { accepted, refused, seconds: (lastMs - firstMs) / 1000 } satisfies Seen;
  level = new TokenLevel(LIMIT, performance.now());
  [accepted, refused, firstMs, lastMs] = [0, 0, 0, 0];
  return undefined;
});
