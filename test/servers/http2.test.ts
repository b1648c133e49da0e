import { once } from 'node:events';
import {
  connect,
  createServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2Server,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, describe, expect, it, vi } from 'vitest';

/** Node's compatibility layer accepts such listeners for HTTP/2 as well, although its types do not. */
type Http2Listener = NonNullable<Parameters<typeof createServer>[0] & ((...all: never[]) => unknown)>;

type Work = () => Promise<void>;

interface Options {
  readonly bodyTimeoutMs?: number;
}

const apps: {
  name: string;
  serve: (intake: Intake, work: Work, options: Options) => RequestListener;
}[] = [
  {
    name: 'node',
    serve: (intake, work, options) =>
      withBackpressure(
        async (_req, res) => {
          await work();
          res.end('done');
        },
        { intake, ...options },
      ),
  },
  {
    name: 'Koa',
    serve: (intake, work, options) =>
      new Koa()
        .use(forKoa({ intake, ...options }))
        .use(async (ctx) => {
          await work();
          ctx.body = 'done';
        })
        .callback(),
  },
  {
    name: 'Hono',
    serve: (intake, work) => {
      const app = new Hono().use(forHono({ intake })).post('/', async (c) => {
        await work();
        return c.text('done');
      });
      return getRequestListener(app.fetch);
    },
  },
];
/** Waits, turn by turn, until a condition is met. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate();
}

const servers: Http2Server[] = [];
const sessions: ClientHttp2Session[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

describe.each(apps)('over HTTP/2, the middleware on $name', ({ name, serve }) => {
  async function open(
    intake: Intake,
    work: Work = () => Promise.resolve(),
    options: Options = {},
  ): Promise<ClientHttp2Session> {
    const server = createServer(serve(intake, work, options) as unknown as Http2Listener);
    servers.push(server);
    server.listen(0);
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    sessions.push(session);
    return session;
  }

  const send = (session: ClientHttp2Session): ClientHttp2Stream => {
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => undefined);
    stream.end('{}');
    return stream;
  };
  const statusOf = async (stream: ClientHttp2Stream): Promise<unknown> => {
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    return headers[':status'];
  };
  const when = async (intake: Intake, type: string): Promise<void> => {
    await new Promise<void>((resolve) => {
      const end = intake.subscribe((event) => {
        if (event.type !== type) return;
        end();
        resolve();
      });
    });
  };

  it('admits, queues and refuses single streams', async () => {
    const intake = createIntake({ concurrency: 1, capacity: 1 });
    const session = await open(intake);
    const first = intake.admit();
    const waiting = send(session);
    const refused = send(session);
    const [headers] = (await once(refused, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(headers).not.toHaveProperty('connection');
    expect(JSON.parse(await text(refused))).toMatchObject({ reason: 'full' });
    if (first.admitted && 'release' in first.permit) first.permit.release();
    expect(await statusOf(waiting)).toBe(200);
    expect(await text(waiting)).toBe('done');
    await intake.close();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const closing = send(session);
    expect(await statusOf(closing)).toBe(503);
    // Hono has one response for both HTTP versions, and node drops headers that this version lacks.
    expect(warn).toHaveBeenCalledTimes(name === 'Hono' ? 1 : 0);
    warn.mockRestore();
    expect(intake.snapshot()).toMatchObject({ active: 0, depth: 0 });
  });

  // With web standards the handler reads the body.
  it.skipIf(name === 'Hono')(
    'closes a stream whose body does not arrive, after responding with 408',
    async () => {
      const intake = createIntake({ concurrency: 1 });
      const session = await open(intake, undefined, { bodyTimeoutMs: 50 });
      const stream = session.request({ ':method': 'POST', ':path': '/' });
      stream.on('error', () => undefined);
      stream.write('{');
      const closed = once(stream, 'close');
      expect(await statusOf(stream)).toBe(408);
      stream.resume();
      await closed;
      expect(intake.snapshot()).toMatchObject({ active: 0, depth: 0 });
    },
  );

  it('removes a reset stream from the queue', async () => {
    const intake = createIntake({ concurrency: 1 });
    const session = await open(intake);
    const first = intake.admit();
    const gone = send(session);
    await until(() => intake.snapshot().depth === 1);
    const withdrawn = when(intake, 'withdrawn');
    gone.close(8);
    await withdrawn;
    expect(intake.snapshot().totals.withdrawn.abandoned).toBe(1);
    if (first.admitted && 'release' in first.permit) first.permit.release();
    expect(intake.snapshot().active).toBe(0);
  });

  it('holds the worker of a reset stream without a body', async () => {
    const intake = createIntake({ concurrency: 1 });
    const held = holding();
    const session = await open(intake, held.handle);
    const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: true });
    stream.on('error', () => undefined);
    await until(() => held.waiting.length === 1);
    stream.close(8);
    await once(stream, 'close');
    send(session);
    await until(() => intake.snapshot().depth === 1);
    expect(intake.snapshot()).toMatchObject({ active: 1, drainRate: null });
    for (let count = 0; count < 2; count += 1) {
      held.waiting.shift()?.();
      await until(() => intake.snapshot().totals.failed + intake.snapshot().totals.completed === count + 1);
    }
    expect(intake.snapshot().totals).toMatchObject({ completed: 1, failed: 1 });
  });

  it('never runs more handlers than the concurrency when streams are reset, and counts them as failures', async () => {
    const intake = createIntake({ concurrency: 2 });
    const held = holding();
    const session = await open(intake, held.handle);
    for (let count = 0; count < 30; count += 1) {
      const stream = send(session);
      if (count < 2) await until(() => intake.snapshot().active === count + 1);
      else await until(() => intake.snapshot().depth === 1);
      stream.close(8);
      await once(stream, 'close');
      await until(() => intake.snapshot().depth === 0);
    }
    expect(held.waiting).toHaveLength(2);
    expect(intake.snapshot().active).toBe(2);
    for (const release of held.waiting) release();
    await until(() => intake.snapshot().active === 0);
    expect(intake.snapshot().totals).toMatchObject({ started: 2, completed: 0, failed: 2 });
  });
});

/** A handler that holds each delivery until the test releases it. */
function holding(): { waiting: (() => void)[]; handle: () => Promise<void> } {
  const waiting: (() => void)[] = [];
  return { waiting, handle: () => new Promise((resolve) => waiting.push(resolve)) };
}
