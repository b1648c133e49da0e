import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from '@webhook-backpressure/core/testing';
import { memoryStore, webhookInbox } from '@webhook-backpressure/express/inbox';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { Sender, type Reply, type Sent } from '../conformance/sender.ts';
import { createBench, occupy, startedLater, startedNow, turnedAway, type Bench } from '../core/harness.ts';

const servers: Server[] = [];
const sender = new Sender();

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Sends deliveries to the app. */
async function serve(app: Express): Promise<(sent?: Sent) => Promise<Reply>> {
  const server = createServer(app).listen(0);
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return (sent) =>
    sender.send(port, { path: '/webhooks', headers: { 'content-type': 'application/json' }, ...sent }).reply;
}

const anInbox = (verify: false | (() => unknown) = false): ReturnType<typeof webhookInbox> =>
  webhookInbox({ store: memoryStore(), verify, process: () => undefined });

/** A handler that the test ends. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

// Each of these is a symptom of docs/troubleshooting.md.
describe('req.backpressure is undefined', () => {
  it('for a GET, and in a route that was registered before the middleware', async () => {
    const app = express();
    const seen: string[] = [];
    const route = express.Router().use((req, res) => {
      seen.push(typeof req.backpressure);
      res.end();
    });
    app.post('/early', route);
    app.use(webhookBackpressure());
    app.use(route);
    const send = await serve(app);
    await send({ path: '/early' });
    await send({ method: 'GET' });
    await send();
    expect(seen).toEqual(['undefined', 'undefined', 'object']);
  });
});

describe('signature verification fails', () => {
  it('because express.raw() skips content types that it does not expect', async () => {
    const app = express();
    app.post('/webhooks', webhookBackpressure(), express.raw(), (req, res) => {
      res.end(typeof req.body);
    });
    expect((await (await serve(app))()).body).toBe('undefined');
  });

  it('because express.json() ran before the inbox, which answers 500', async () => {
    const app = express();
    let code: unknown;
    const onError: ErrorRequestHandler = (error: { code?: unknown }, _req, res, _next) => {
      ({ code } = error);
      res.sendStatus(500);
    };
    app.post('/webhooks', express.json(), anInbox(), onError);
    expect((await (await serve(app))()).status).toBe(500);
    expect(code).toBe('ERR_WBP_BODY_READ');
  });

  it('because verify returns nothing, which the event unverified says', async () => {
    const webhooks = anInbox(() => undefined);
    const errors: string[] = [];
    webhooks.inbox.subscribe((event) => {
      if (event.type === 'unverified') errors.push(event.error);
    });
    const send = await serve(express().post('/webhooks', webhooks));
    expect((await send()).status).toBe(401);
    expect(errors).toEqual(['verify returned undefined']);
  });
});

describe('nothing is ever queued or refused', () => {
  it.each([
    ['because handlers answer first and work afterwards', false, 5],
    ['unless the work is passed to waitUntil', true, 1],
  ])('%s', async (_, isPassed, expected) => {
    const app = express();
    const { open, opened } = gate();
    let running = 0;
    app.use(webhookBackpressure({ concurrency: 1 }));
    app.post('/webhooks', (req, res) => {
      running += 1;
      res.sendStatus(204);
      if (isPassed) req.backpressure?.waitUntil(opened);
    });
    const send = await serve(app);
    const replies = Array.from({ length: 5 }, () => send());
    await (isPassed ? replies[0] : Promise.all(replies));
    expect(running).toBe(expected);
    open();
    await Promise.all(replies);
  });

  it('because of dryRun, which counts the refusals', async () => {
    const app = express();
    const backpressure = webhookBackpressure({ concurrency: 1, capacity: 1, dryRun: true });
    const { open, opened } = gate();
    let running = 0;
    app.use(backpressure);
    app.post('/webhooks', async (_req, res) => {
      running += 1;
      if (running === 5) open();
      await opened;
      res.sendStatus(204);
    });
    const send = await serve(app);
    const replies = await Promise.all(Array.from({ length: 5 }, () => send()));
    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    const { refused } = backpressure.intake.snapshot().totals;
    expect(refused.shedding + refused.full).toBeGreaterThan(0);
  });
});

describe('deliveries stay in the queue and nothing starts', () => {
  it('because an Express handler does not end its response, until maxHandlingMs', async () => {
    const clock = manualClock();
    const app = express();
    const backpressure = webhookBackpressure({ concurrency: 1, clock });
    const { open, opened } = gate();
    app.use(backpressure);
    app.post('/webhooks', (_req, res) => {
      open();
      servers.at(-1)?.once('close', () => res.destroy());
    });
    const send = await serve(app);
    const replies = [send(), send()];
    for (const reply of replies) reply.catch(() => undefined);
    await opened;
    while (backpressure.intake.snapshot().depth === 0) await new Promise(setImmediate);
    expect(backpressure.intake.snapshot()).toMatchObject({ active: 1, depth: 1, totals: { overdue: 0 } });
    backpressure.intake.update({ maxWaitMs: 86_400_000 });
    clock.advance(61_000);
    expect(backpressure.intake.snapshot().totals.overdue).toBe(1);
  });

  it('because the inbox is paused', async () => {
    const webhooks = anInbox();
    await webhooks.inbox.pause();
    const send = await serve(express().post('/webhooks', webhooks));
    expect((await send()).status).toBe(200);
    expect(webhooks.inbox.snapshot()).toMatchObject({ depth: 1, active: 0, isPaused: true });
    await webhooks.inbox.resume();
    await webhooks.inbox.close();
    expect(webhooks.inbox.snapshot().depth).toBe(0);
  });
});

describe('state is stalled', () => {
  it('after 10 s in which no handler has ended', () => {
    const { intake, clock } = createBench({ concurrency: 2 });
    occupy(intake);
    intake.admit();
    clock.advance(9_000);
    expect(intake.snapshot().state).toBe('accepting');
    clock.advance(2_000);
    expect(intake.snapshot()).toMatchObject({ state: 'stalled', active: 2 });
  });
});

describe('Retry-After keeps growing', () => {
  /** Ten deliveries a second have been completed for two minutes, and the queue is at its high-water mark. */
  async function overloaded(): Promise<Bench> {
    const bench = createBench({ concurrency: 1, capacity: 20, retryAfter: { strategy: 'booked' } });
    const { intake, clock } = bench;
    let permit = startedNow(intake.admit({ key: 'shop' }));
    const waiting: ReturnType<typeof intake.admit>[] = [];
    for (let count = 0; count < 1200; count += 1) {
      while (intake.snapshot().state === 'accepting' && intake.snapshot().depth < 15)
        waiting.push(intake.admit({ key: 'shop' }));
      clock.advance(100);
      permit.release();
      const next = waiting.shift();
      if (next?.admitted !== true) throw new Error('refused');
      permit = await startedLater(next);
    }
    while (intake.admit({ key: 'shop' }).admitted);
    return bench;
  }
  const refuse = ({ intake }: Bench, id?: string): number =>
    turnedAway(intake.admit({ key: 'shop', ...(id === undefined ? {} : { id }) })).retryAfterSeconds;

  it('because each refusal books a later second', async () => {
    const bench = await overloaded();
    const seconds = Array.from({ length: 500 }, (_, at) => refuse(bench, `evt_${String(at)}`));
    expect(seconds).toEqual(seconds.toSorted((one, other) => one - other));
    // At ten per second, and later still, because new deliveries need a part of that.
    expect(seconds.at(-1)).toBeGreaterThanOrEqual(49);
    expect(bench.intake.snapshot().booked).toBeGreaterThanOrEqual(500);
  });

  it('because a delivery without an id that is sent again early books again; one with an id does not', async () => {
    const bench = await overloaded();
    for (let count = 0; count < 100; count += 1) refuse(bench);
    const withId = Array.from({ length: 300 }, () => refuse(bench, 'evt_1'));
    const without = Array.from({ length: 300 }, () => refuse(bench));
    expect(new Set(withId).size).toBe(1);
    expect(without.at(-1)).toBeGreaterThan(20 + (without[0] ?? NaN));
  });
});
