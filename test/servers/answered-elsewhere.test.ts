import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forFastify } from '@webhook-backpressure/fastify';
import type { RequestListener } from '@webhook-backpressure/node';
import express, { type Express, type Request, type RequestHandler } from 'express';
import express4 from 'express4';
import fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** What times out each delivery that has arrived, and what ends each handler that has started. */
let timeouts: (() => void)[];
let ends: (() => void)[];
let warnings: string[];
const servers: Server[] = [];

beforeEach(() => {
  timeouts = [];
  ends = [];
  warnings = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(((message: string, { code }: { code: string }) => {
    warnings.push(code, message);
  }) as typeof process.emitWarning);
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate();
}

/** Sends a delivery and resolves to the status of its answer, or to 0 without one. */
type Send = () => Promise<number>;

async function serve(listener: RequestListener): Promise<Send> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/webhooks`;
  return () =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status,
      () => 0,
    );
}

/** Does what connect-timeout does, when a test says so. */
const timeout: RequestHandler = (req, _res, next) => {
  timeouts.push(() => {
    (req as Request & { timedout?: boolean }).timedout = true;
    next(Object.assign(new Error('Response timeout'), { status: 503 }));
  });
  next();
};

/** A timeout that leaves no trace on the request. */
const plainTimeout: RequestHandler = (_req, res, next) => {
  timeouts.push(() => {
    res.sendStatus(503);
  });
  next();
};

const asyncHandler: RequestHandler = async (_req, res) => {
  await new Promise<void>((resolve) => ends.push(resolve));
  if (!res.headersSent) res.sendStatus(200);
};

/** Starts one delivery, queues another, and times out the one of this index, up to the end of its response. */
async function timeOut(index: number, send: Send, intake: Intake): Promise<void> {
  const answers: Promise<number>[] = [];
  for (const count of [1, 2]) {
    answers.push(send());
    await until(() => timeouts.length === count && intake.snapshot().totals.admitted === count);
  }
  timeouts[index]?.();
  expect(await answers[index]).toBe(503);
  // The response is over on the server before the next request arrives on its connection.
  void send();
  await until(() => timeouts.length === 3);
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('a delivery that something else has answered, on %s', (_name, framework) => {
  const apps: [string, (intake: Intake) => Express][] = [
    [
      'of a route',
      (intake) => framework().use(plainTimeout, forExpress({ intake })).post('/webhooks', asyncHandler),
    ],
    ['of a middleware', (intake) => framework().use(plainTimeout, forExpress({ intake }), asyncHandler)],
    [
      'of a router within a router',
      (intake) => {
        const inner = framework.Router().post('/webhooks', asyncHandler);
        return framework().use(plainTimeout, framework.Router().use(forExpress({ intake }), inner));
      },
    ],
  ];

  it.each(apps)('keeps its permit until the promise %s settles', async (_where, create) => {
    const intake = createIntake({ concurrency: 1 });
    await timeOut(0, await serve(create(intake)), intake);
    expect([intake.snapshot().active, ends.length]).toEqual([1, 1]);
    ends[0]?.();
    await until(() => ends.length === 2);
    expect(intake.snapshot().totals).toMatchObject({ started: 2, failed: 1 });
  });

  it.each<[string, RequestHandler]>([
    ['ends its response', (_req, res) => ends.push(() => res.end())],
    ['sends an answer', (_req, res) => ends.push(() => res.json({}))],
    [
      'asks whether there was a timeout',
      (req, res) => ends.push(() => ('timedout' in req && req.timedout === true) || res.end()),
    ],
    ['asks for an answer', (_req, res) => ends.push(() => res.headersSent || res.end())],
  ])('keeps its permit until a callback %s, after connect-timeout', async (_how, handler) => {
    const intake = createIntake({ concurrency: 1 });
    const app = framework().use(timeout, forExpress({ intake })).post('/webhooks', handler);
    await timeOut(0, await serve(app), intake);
    expect([intake.snapshot().active, ends.length]).toEqual([1, 1]);
    try {
      ends[0]?.();
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_HTTP_HEADERS_SENT' });
    }
    await until(() => ends.length === 2);
    expect(warnings).toEqual([
      'WBP_ANSWERED',
      expect.stringContaining('Mount timeouts after the middleware'),
    ]);
  });

  it.each<[string, RequestHandler]>([
    [
      'awaits',
      async (_req, _res, next) => {
        await setImmediate();
        next();
      },
    ],
    [
      'calls the next one',
      // eslint-disable-next-line @typescript-eslint/require-await -- the subject
      async (_req, _res, next) => {
        next();
      },
    ],
  ])('keeps its permit for a callback behind an async middleware that %s', async (_how, middleware) => {
    const intake = createIntake({ concurrency: 1 });
    const app = framework().use(timeout, forExpress({ intake }), middleware, (_req, res) => {
      ends.push(() => res.end());
    });
    const send = await serve(app);
    const answer = send();
    await until(() => ends.length === 1);
    timeouts[0]?.();
    expect(await answer).toBe(503);
    void send();
    await until(() => intake.snapshot().totals.admitted === 2);
    expect(intake.snapshot().totals.started).toBe(1);
    ends[0]?.();
    await until(() => ends.length === 2);
  });

  it('frees its worker when its handler has settled before the timeout, without an answer', async () => {
    const intake = createIntake({ concurrency: 1 });
    const silent: RequestHandler = async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    const send = await serve(framework().use(timeout, forExpress({ intake }), silent));
    const answer = send();
    await until(() => ends.length === 1);
    ends[0]?.();
    await setImmediate();
    timeouts[0]?.();
    expect(await answer).toBe(503);
    await until(() => intake.snapshot().active === 0);
  });

  it('leaves the queue', async () => {
    const intake = createIntake({ concurrency: 1 });
    const app = framework().use(timeout, forExpress({ intake })).post('/webhooks', asyncHandler);
    await timeOut(1, await serve(app), intake);
    await until(() => intake.snapshot().totals.admitted === 3);
    const { depth, totals } = intake.snapshot();
    expect([depth, totals.withdrawn.abandoned, totals.failed]).toEqual([1, 1, 0]);
    expect(warnings).toEqual(['WBP_ANSWERED', expect.any(String)]);
  });

  it('is not reported when its handler answers', async () => {
    const intake = createIntake({ concurrency: 1 });
    const send = await serve(
      framework().use(timeout, forExpress({ intake }), (_req, res) => res.send('done')),
    );
    expect([await send(), await send()]).toEqual([200, 200]);
    await until(() => intake.snapshot().totals.completed === 2);
    expect(warnings).toEqual([]);
  });
});

it('leaves the queue when a hook of Fastify answers it', async () => {
  const intake = createIntake({ concurrency: 1 });
  const app = fastify();
  app.addHook('onRequest', (_request, reply, done) => {
    timeouts.push(() => void reply.code(503).send());
    done();
  });
  await app.register(forFastify, { intake });
  app.post('/webhooks', async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return 'done';
  });
  await app.ready();
  await timeOut(
    1,
    await serve((req, res) => {
      app.routing(req, res);
    }),
    intake,
  );
  await until(() => intake.snapshot().totals.admitted === 3);
  const { depth, totals } = intake.snapshot();
  expect([depth, totals.withdrawn.abandoned, totals.failed]).toEqual([1, 1, 0]);
  await app.close();
});
