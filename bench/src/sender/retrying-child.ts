import { memoryStore } from '@webhook-backpressure/inbox';
import { createSender } from '@webhook-backpressure/sender';
import { Agent, RetryAgent } from 'undici';
import { answer } from '../pinned.ts';
import { RefusingServer, type Asked } from './refusing-server.ts';

const EACH = 40;
/** A timer may fire that much before its time, measured on another clock. */
const TOLERANCE_MS = 1;

/** The requests of one side after one form of Retry-After. */
export interface Honored extends Asked {
  readonly side: string;
  readonly retries: number;
  /** Of them. */
  readonly early: number;
  readonly earliestMs: number;
  readonly latestMs: number;
}

async function ours(origin: string, forms: readonly Asked[]): Promise<void> {
  const sender = createSender({
    store: memoryStore(),
    allowPrivateAddresses: true,
    endpoint: (id) => ({ url: `${origin}/${id}`, secret: null }),
    defaults: { rate: { perSecond: 1000 }, burst: 1000, maxInFlight: 100 },
  });
  const all = new Promise<void>((resolve) => {
    let delivered = 0;
    sender.subscribe(({ type }) => {
      if (type === 'delivered' && (delivered += 1) === forms.length * EACH) resolve();
    });
  });
  for (const form of forms)
    for (let at = 0; at < EACH; at += 1)
      // Each at its own endpoint: one that refuses every first attempt would get a lower rate as well.
      await sender.send({ endpoint: pathOf(form, at), type: 'order.updated', data: at });
  await all;
  await sender.close();
}

/** Its defaults, but for the method: without `methods`, no POST is repeated. */
async function retryAgent(origin: string, forms: readonly Asked[]): Promise<void> {
  const dispatcher = new RetryAgent(new Agent(), { methods: ['POST'] });
  const post = async (form: Asked, at: number): Promise<void> => {
    const headers = { 'webhook-id': pathOf(form, at) };
    const { body } = await dispatcher.request({
      origin,
      path: `/${pathOf(form, at)}`,
      method: 'POST',
      headers,
      body: String(at),
    });
    await body.dump();
  };
  await Promise.all(forms.flatMap((form) => Array.from({ length: EACH }, (_, at) => post(form, at))));
  await dispatcher.close();
}

const SIDES = new Map([
  ['ours', ours],
  ['RetryAgent', retryAgent],
]);

function pathOf({ seconds, isDate }: Asked, at: number): string {
  return `${String(seconds)}/${isDate ? 'date' : 'seconds'}/${String(at)}`;
}

answer(async (forms: readonly Asked[]): Promise<readonly Honored[]> => {
  const found = [...SIDES].map(async ([side, send]) => {
    const server = new RefusingServer();
    await send(`http://127.0.0.1:${String(await server.start())}`, forms);
    server.stop();
    return forms.map((form) => {
      const early = server.earlyMs(form);
      return {
        ...form,
        side,
        retries: early.length,
        early: early.filter((ms) => ms > TOLERANCE_MS).length,
        earliestMs: Math.max(...early),
        latestMs: Math.max(...early.map((ms) => -ms)),
      };
    });
  });
  return (await Promise.all(found)).flat();
});
