import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { webhookBackpressure } from '@webhook-backpressure/koa';
import { webhookInbox } from '@webhook-backpressure/koa/inbox';
import Koa3 from 'koa';
import type { Context as KoaContext } from 'koa';
import Koa2 from 'koa2';
import { koaApp } from '../../frameworks/koa-app.ts';
import type { Adapter, FrameworkApp, InboxDriver, RoutedInbox } from '../adapter.ts';
import { around } from '../around.ts';
import { translated, type Driver, type Exchange, type Outflow } from '../exchange.ts';
import { askedOf } from '../node-exchange.ts';

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

function driver(name: string, Koa: typeof Koa3): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: false,
    seesConnection: true,
    answersForHandlers: true,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const app = new Koa();
      const middleware = webhookBackpressure(
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

function inbox(name: string, Koa: typeof Koa3): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = new Koa();
      const webhooks = webhookInbox(options);
      app.on('error', onError);
      if (reads) {
        app.use(async (ctx, next) => {
          await text(ctx.req);
          await next();
        });
      }
      app.use((ctx, next): unknown => webhooks(ctx, next));
      app.use((ctx) => {
        ctx.status = 418;
      });
      return { listener: app.callback(), inbox: webhooks.inbox };
    },
  };
}

function routed(name: string, Koa: typeof Koa3): RoutedInbox {
  return {
    name,
    hasRoutes: true,
    seesSentUrl: true,
    mount({ options }) {
      const webhooks = webhookInbox({ ...options, context: (ctx) => ({ from: ctx.get('x-from') }) });
      const app = new Koa();
      // As Koa's routers do: params on the context, and a shorter path where a router is mounted.
      app.use(async (ctx, next) => {
        const [, version = '', tenant = ''] = /^\/api\/([^/]+)\/hooks\/([^/]+)$/.exec(ctx.path) ?? [];
        Object.assign(ctx, { params: { version, tenant: decodeURIComponent(tenant), optional: undefined } });
        ctx.path = `/hooks/${tenant}`;
        await webhooks(ctx, next);
      });
      return { listener: app.callback(), inbox: webhooks.inbox };
    },
  };
}

function app(name: string, Koa: typeof Koa3): FrameworkApp {
  return { name, serve: (options) => koaApp(Koa, options && webhookBackpressure(options)) };
}

export const adapters: readonly Adapter[] = (
  [
    ['Koa 2.13', Koa2],
    ['Koa 3', Koa3],
  ] as const
).map(([name, create]) => ({
  driver: driver(name, create),
  inbox: inbox(name, create),
  routed: routed(name, create),
  app: app(name, create),
}));
