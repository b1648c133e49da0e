import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import type express5 from 'express';
import type { ErrorRequestHandler } from 'express';
import type { Hono as HonoLatest, Context as HonoContext } from 'hono';
import type Koa3 from 'koa';
import type { Context as KoaContext } from 'koa';
import { around, aroundFetch } from './around.ts';
import { translated, type Asked, type Driver, type Exchange, type Outflow } from './exchange.ts';
import { fastify } from './fastify-driver.ts';
import { onEvery } from './frameworks.ts';
import { webDriver } from './web-driver.ts';
import { webOutflow, type WebExchange } from './web-exchange.ts';

function askedOf(request: IncomingMessage): Asked {
  return {
    method: request.method ?? '',
    header: (name) => request.headers[name] as string | undefined,
  };
}

/** For node:http and Express. */
function nodeExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  return {
    info: req.backpressure,
    read: () => text(req),
    answer(status, body) {
      res.writeHead(status, { 'Content-Type': 'text/plain' }).end(body);
    },
    stream(): Outflow {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      res.flushHeaders();
      return {
        write: (chunk) => void res.write(chunk),
        end: () => void res.end(),
        fail: (error) => void res.destroy(error),
      };
    },
  };
}

const node: Driver = {
  name: 'node:http',
  hasNext: false,
  cutsBrokenStreams: true,
  seesConnection: true,
  answersForHandlers: false,
  serve({ options, handle, isMountedTwice, ...host }) {
    const mount = (listener: RequestListener): ReturnType<typeof withBackpressure> =>
      withBackpressure(listener, translated(options, askedOf, nodeExchange));
    const once = mount((req, res) => handle(nodeExchange(req, res)));
    const listener = isMountedTwice ? mount(once) : once;
    return { listener: around(listener, host), intake: listener.intake };
  },
};

function express(name: string, create: typeof express5): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: true,
    seesConnection: true,
    answersForHandlers: false,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = create();
      const middleware = forExpress(translated(options, askedOf, nodeExchange));
      app.use(middleware);
      if (isMountedTwice) app.use(middleware);
      if (isNextTwice) {
        app.use((_req, _res, next) => {
          next();
          next();
        });
      }
      app.use((req, res, next) => {
        const result = handle(nodeExchange(req, res));
        // Express 4 ignores what a handler returns.
        if (result instanceof Promise) result.catch(next);
      });
      const onFailure: ErrorRequestHandler = (error, _req, res, next) => {
        onError(error);
        if (res.headersSent) next(error);
        else res.status(500).end();
      };
      app.use(onFailure);
      return { listener: around(app, host), intake: middleware.intake };
    },
  };
}

function koaExchange(ctx: KoaContext): Exchange {
  return {
    info: ctx.state.backpressure,
    read: () => text(ctx.req),
    answer(status, body) {
      ctx.status = status;
      ctx.body = body;
    },
    stream(): Outflow {
      const body = new PassThrough();
      ctx.body = body;
      return {
        write: (chunk) => void body.write(chunk),
        end: () => void body.end(),
        fail: (error) => void body.destroy(error),
      };
    },
  };
}

function koa(name: string, Koa: typeof Koa3): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: false,
    seesConnection: true,
    answersForHandlers: true,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = new Koa();
      const middleware = forKoa(
        translated(
          options,
          (ctx) => askedOf(ctx.req),
          (ctx: KoaContext) => koaExchange(ctx),
        ),
      );
      app.on('error', onError);
      app.use(middleware);
      if (isMountedTwice) app.use(middleware);
      if (isNextTwice) {
        app.use(async (_ctx, next) => {
          await next();
          await next();
        });
      }
      app.use((ctx) => handle(koaExchange(ctx)));
      return { listener: around(app.callback(), host), intake: middleware.intake };
    },
  };
}

function honoExchange(c: HonoContext): WebExchange {
  const exchange: WebExchange = {
    response: undefined,
    info: c.get('backpressure'),
    read: () => c.req.text(),
    answer(status, body) {
      // Not created with `c`: a handler may return any response, such as a fetched one.
      exchange.response = new Response(body, { status });
    },
    stream() {
      const { outflow, readable } = webOutflow();
      exchange.response = c.newResponse(readable);
      return outflow;
    },
  };
  return exchange;
}

async function responseOf(exchange: Exchange, result: unknown): Promise<Response | undefined> {
  await result;
  return (exchange as WebExchange).response;
}

function hono(name: string, Hono: typeof HonoLatest): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: true,
    seesConnection: true,
    answersForHandlers: true,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = new Hono();
      const middleware = forHono(
        translated(
          options,
          (c: HonoContext): Asked => ({ method: c.req.method, header: (name) => c.req.header(name) }),
          (c: HonoContext) => honoExchange(c),
          responseOf,
        ),
      );
      app.onError((error, c) => {
        onError(error);
        return c.body(null, 500);
      });
      if (host.readsBody === true) {
        app.use('*', async (c, next) => {
          await c.req.text();
          await next();
        });
      }
      app.use('*', middleware);
      if (isMountedTwice) {
        app.use('*', async (c, next) => {
          c.req.raw = new Request(c.req.raw);
          await next();
        });
        app.use('*', middleware);
      }
      if (isNextTwice) {
        app.use('*', async (_c, next) => {
          await next();
          await next();
        });
      }
      app.all('*', async (c) => {
        const exchange = honoExchange(c);
        return await responseOf(exchange, handle(exchange));
      });
      const fetch = aroundFetch(async (request: Request, env: object) => app.fetch(request, env), {
        deadline: host.deadline,
      });
      return { listener: getRequestListener(fetch), intake: middleware.intake };
    },
  };
}

export const drivers: readonly Driver[] = onEvery<Driver>({
  node,
  express,
  fastify,
  koa,
  hono,
  web: webDriver,
});
