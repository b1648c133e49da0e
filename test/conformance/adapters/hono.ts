import { getRequestListener } from '@hono/node-server';
import { webhookBackpressure } from '@webhook-backpressure/hono';
import { webhookInbox } from '@webhook-backpressure/hono/inbox';
import { Hono as HonoLatest } from 'hono';
import type { Context as HonoContext } from 'hono';
import { Hono as Hono40 } from 'hono40';
import { honoApp } from '../../frameworks/hono-app.ts';
import type { Adapter, FrameworkApp, InboxDriver, RoutedInbox } from '../adapter.ts';
import { aroundFetch } from '../around.ts';
import { translated, type Asked, type Driver, type Exchange } from '../exchange.ts';
import { webOutflow, type WebExchange } from '../web-exchange.ts';

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

function driver(name: string, Hono: typeof HonoLatest): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: true,
    seesConnection: true,
    answersForHandlers: true,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = new Hono();
      const middleware = webhookBackpressure(
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

function inbox(name: string, Hono: typeof HonoLatest): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = new Hono();
      const webhooks = webhookInbox(options);
      app.onError((error, c) => {
        onError(error);
        return c.body(null, 500);
      });
      if (reads) {
        app.use('*', async (c, next) => {
          await c.req.text();
          await next();
        });
      }
      app.all('/webhooks', webhooks, (c) => c.body(null, 418));
      return { listener: getRequestListener(app.fetch), inbox: webhooks.inbox };
    },
  };
}

function routed(name: string, Hono: typeof HonoLatest): RoutedInbox {
  return {
    name,
    hasRoutes: true,
    seesSentUrl: true,
    mount({ options }) {
      const webhooks = webhookInbox({ ...options, context: (c) => ({ from: c.req.header('x-from') }) });
      const router = new Hono().post('/hooks/:tenant', webhooks);
      const app = new Hono().route('/api/:version', router);
      return { listener: getRequestListener(app.fetch), inbox: webhooks.inbox };
    },
  };
}

function app(name: string, Hono: typeof HonoLatest): FrameworkApp {
  return { name, serve: (options) => honoApp(Hono, options && webhookBackpressure(options)) };
}

export const adapters: readonly Adapter[] = (
  [
    ['Hono 4.0', Hono40],
    ['Hono 4', HonoLatest],
  ] as const
).map(([name, create]) => ({
  driver: driver(name, create),
  inbox: inbox(name, create),
  routed: routed(name, create),
  app: app(name, create),
}));
