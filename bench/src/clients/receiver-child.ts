import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Intake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import { listen } from '../listen.ts';
import { answer } from '../pinned.ts';
import { HANDLING_MS, LIMITS, type ReceiverName } from './setup.ts';

/** What the receiver did with a burst. */
export interface Received {
  readonly handled: number;
  readonly refused: number;
  /** Of each refusal, in the order in which they were sent. */
  readonly retryAfterS: readonly number[];
  /** When each was sent, in milliseconds after the first request. */
  readonly refusedMs: readonly number[];
}

interface Receiver {
  readonly listener: RequestListener;
  readonly intake: Intake;
}

async function handle(response: ServerResponse): Promise<void> {
  await wait(HANDLING_MS);
  handled += 1;
  response.end();
}

const receivers: Readonly<Record<ReceiverName, () => Receiver>> = {
  Express() {
    const app = express();
    const middleware = webhookBackpressure(LIMITS);
    app.post('/webhooks', middleware, (_req, res) => handle(res));
    return { listener: app, intake: middleware.intake };
  },
  'node:http'() {
    const listener = withBackpressure((_req, res) => handle(res), LIMITS);
    return { listener, intake: listener.intake };
  },
};

let handled = 0;
let beganMs = Infinity;
const retryAfterS: number[] = [];
const refusedMs: number[] = [];
const { listener, intake } = receivers[process.argv[2] as ReceiverName]();
intake.subscribe((event) => {
  beganMs = Math.min(beganMs, performance.now());
  if (event.type !== 'refused') return;
  retryAfterS.push(event.retryAfterSeconds);
  refusedMs.push(performance.now() - beganMs);
});

answer(async (question: 'start' | 'report'): Promise<number | Received> => {
  if (question === 'start') return listen(createServer(listener));
  return { handled, refused: retryAfterS.length, retryAfterS, refusedMs };
});
