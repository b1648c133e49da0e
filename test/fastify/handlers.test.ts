import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { protectedApp, until, versions } from './apps.ts';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) {
    app.server.closeAllConnections();
    await app.close();
  }
});

interface Served {
  readonly app: FastifyInstance;
  /** The replies of the handlers that have started. */
  readonly replies: FastifyReply[];
  /** Sends a delivery and disconnects when its handler has started, or when the answer has. */
  readonly leave: (hasBegun?: boolean) => Promise<void>;
}

function begun(): Readable {
  const stream = new PassThrough();
  stream.write('begun');
  return stream;
}

describe.each(versions)('the permit on $name', ({ name, create }) => {
  async function serve(handler: RouteHandlerMethod, isEarly = false): Promise<Served> {
    const app = await protectedApp(create, { concurrency: 1 });
    const replies: FastifyReply[] = [];
    const handle: RouteHandlerMethod = function (asked, reply) {
      replies.push(reply);
      return handler.call(this, asked, reply);
    };
    if (isEarly) app.setNotFoundHandler(handle);
    else app.post('/', handle);
    await app.listen({ port: 0 });
    apps.push(app);
    const { port } = app.server.address() as AddressInfo;
    const leave = async (hasBegun = false): Promise<void> => {
      const sending = request({ port, method: 'POST', agent: false });
      sending.on('error', () => undefined).end();
      if (hasBegun) await once(sending, 'response');
      else await until(() => replies.length > 0);
      sending.destroy();
      await until(() => replies[0]?.raw.destroyed === true);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { app, replies, leave };
  }
  const active = (app: FastifyInstance): number => app.backpressure.intake.snapshot().active;

  it('is held until the promise of the handler settles, although the response is over', async () => {
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const { app } = await serve(async (_request, reply) => {
      void reply.send('accepted');
      await work;
    });
    expect((await app.inject({ method: 'POST', url: '/' })).body).toBe('accepted');
    expect(active(app)).toBe(1);
    finish();
    await until(() => active(app) === 0);
    expect(app.backpressure.intake.snapshot().totals.completed).toBe(1);
  });

  it.each([
    ['nothing', undefined],
    ['a payload', { done: true }],
    ['a stream', Readable.from(['done'])],
  ])('ends with a handler that resolves to %s after its sender has gone', async (_what, payload) => {
    let finish: () => void = () => undefined;
    const work = new Promise<void>((resolve) => (finish = resolve));
    const { app, leave } = await serve(async () => {
      await work;
      return payload;
    });
    await leave();
    expect(active(app)).toBe(1);
    finish();
    await until(() => active(app) === 0);
    expect(app.backpressure.intake.snapshot().totals.failed).toBe(1);
  });

  // Fastify 4.0 itself sends a reply that has been awaited, when the sender has gone.
  const awaiting: [string, RouteHandlerMethod][] =
    name === 'Fastify 4.0'
      ? []
      : [
          ['resolves to its reply', (_request, reply) => Promise.resolve().then(() => reply)],
          [
            'awaits its reply',
            async (_request, reply) => {
              await reply;
            },
          ],
        ];
  it.each<[string, RouteHandlerMethod, boolean?]>([
    ...awaiting,
    ['returns nothing', () => undefined],
    ['returns its reply', (_request, reply) => reply],
    ['was registered before the plugin', () => undefined, true],
  ])('is held until a handler that %s sends it from a callback', async (_how, handler, isEarly) => {
    const { app, replies, leave } = await serve(handler, isEarly);
    await leave();
    expect(active(app)).toBe(1);
    void replies[0]?.send('late');
    await until(() => active(app) === 0);
    expect(app.backpressure.intake.snapshot().totals.failed).toBe(1);
  });

  // Fastify 4.0 itself answers such a request twice, and its second answer throws.
  const sendingLate: [string, RouteHandlerMethod][] =
    name === 'Fastify 4.0'
      ? []
      : [['resolves to the sending of', async (_request, reply) => reply.send(begun())]];
  it.each<[string, RouteHandlerMethod]>([
    ['sends', (_request, reply) => void reply.send(begun())],
    ['returns the sending of', (_request, reply) => reply.send(begun())],
    ['resolves to', () => Promise.resolve(begun())],
    ...sendingLate,
  ])('ends with the sender in the middle of a stream that a handler %s', async (_how, handler) => {
    const { app, leave } = await serve(handler);
    await leave(true);
    await until(() => active(app) === 0);
  });

  // Fastify 4.0 does not send web streams.
  it.runIf(name === 'Fastify 5').each<[string, RouteHandlerMethod]>([
    ['sends it from a callback', () => undefined],
    ['returns its reply', (_request, reply) => reply],
    [
      'awaits its reply',
      async (_request, reply) => {
        await reply;
      },
    ],
  ])('ends with a web stream for a sender that has gone if the handler %s', async (_how, handler) => {
    const { app, replies, leave } = await serve(handler);
    await leave();
    expect(active(app)).toBe(1);
    void replies[0]?.send(new Response('late'));
    await until(() => active(app) === 0);
  });

  it('ends with the sender in the middle of a hijacked response', async () => {
    const { app, leave } = await serve(async (_request, reply) => {
      reply.hijack();
      reply.raw.write('begun');
      return Promise.resolve(reply);
    });
    await leave(true);
    await until(() => active(app) === 0);
  });

  it('is held until a hijacked response has ended', async () => {
    const { app, replies } = await serve((_request, reply) => {
      reply.hijack();
    });
    const answered = app.inject({ method: 'POST', url: '/' });
    await until(() => replies.length > 0);
    expect(active(app)).toBe(1);
    replies[0]?.raw.end('direct');
    expect((await answered).body).toBe('direct');
    await until(() => active(app) === 0);
  });

  it('passes the instance to handlers as this', async () => {
    const app = await protectedApp(create);
    app.decorate('shop', 'a');
    app.post('/', function () {
      return (this as unknown as { shop: string }).shop;
    });
    expect((await app.inject({ method: 'POST', url: '/' })).body).toBe('a');
  });
});
