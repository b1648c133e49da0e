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
import { getRequestListener } from '@hono/node-server';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, describe, expect, it, vi } from 'vitest';

/** Node's compatibility layer promises that such listeners do for HTTP/2 as well; its types do not say so. */
type Http2Listener = NonNullable<Parameters<typeof createServer>[0] & ((...all: never[]) => unknown)>;

const apps: { name: string; serve: (intake: Intake) => RequestListener }[] = [
  { name: 'node', serve: (intake) => withBackpressure((_req, res) => res.end('done'), { intake }) },
  {
    name: 'Koa',
    serve: (intake) =>
      new Koa()
        .use(forKoa({ intake }))
        .use((ctx) => (ctx.body = 'done'))
        .callback(),
  },
  {
    name: 'Hono',
    serve: (intake) => {
      const app = new Hono().use(forHono({ intake })).post('/', (c) => c.text('done'));
      return getRequestListener(app.fetch);
    },
  },
];
const servers: Http2Server[] = [];
const sessions: ClientHttp2Session[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

describe.each(apps)('over HTTP/2, on $name', ({ name, serve }) => {
  async function open(intake: Intake): Promise<ClientHttp2Session> {
    const server = createServer(serve(intake) as unknown as Http2Listener);
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

  it('lets in, makes wait and refuses stream by stream', async () => {
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
    // Hono has one answer for both versions of HTTP, and node drops what is not for this one.
    expect(warn).toHaveBeenCalledTimes(name === 'Hono' ? 1 : 0);
    warn.mockRestore();
    expect(intake.snapshot()).toMatchObject({ active: 0, depth: 0 });
  });

  it('takes a stream that was reset out of the queue', async () => {
    const intake = createIntake({ concurrency: 1 });
    const session = await open(intake);
    const first = intake.admit();
    const gone = send(session);
    const [server] = servers;
    if (server !== undefined) await once(server, 'request');
    expect(intake.snapshot().depth).toBe(1);
    const withdrawn = when(intake, 'withdrawn');
    gone.close(8);
    await withdrawn;
    expect(intake.snapshot().totals.withdrawn.abandoned).toBe(1);
    if (first.admitted && 'release' in first.permit) first.permit.release();
    expect(intake.snapshot().active).toBe(0);
  });
});
