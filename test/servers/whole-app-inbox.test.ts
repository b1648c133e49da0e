import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { webhookInbox as forExpress } from '@webhook-backpressure/express/inbox';
import { webhookInbox as forHono } from '@webhook-backpressure/hono/inbox';
import { memoryStore } from '@webhook-backpressure/inbox';
import { webhookInbox as forKoa } from '@webhook-backpressure/koa/inbox';
import { webhookBackpressure } from '@webhook-backpressure/express';
import type { RequestListener } from '@webhook-backpressure/node';
import express5, { type ErrorRequestHandler } from 'express';
import express4 from 'express4';
import { Hono as HonoLatest } from 'hono';
import { Hono as Hono40 } from 'hono40';
import Koa3 from 'koa';
import Koa2 from 'koa2';
import { afterEach, describe, expect, it } from 'vitest';
import { Sender } from '../conformance/sender.ts';

const options = (): Parameters<typeof forExpress>[0] & Parameters<typeof forKoa>[0] => ({
  store: memoryStore(),
  verify: false,
  process: () => undefined,
});

/** A mount of an inbox, and the stored deliveries and the errors of its app. */
interface Mounted {
  readonly listener: RequestListener;
  readonly inbox: { snapshot(): { totals: { stored: number } } };
  readonly codes: unknown[];
}
type Mounts = Readonly<Record<string, () => Mounted>>;

function ofExpress(create: typeof express5): { whole: Mounts; some: Mounts } {
  type Mount = (app: ReturnType<typeof express5>, webhooks: ReturnType<typeof forExpress>) => void;
  const mounted = (mount: Mount) => (): Mounted => {
    const app = create();
    const webhooks = forExpress(options());
    const codes: unknown[] = [];
    mount(app, webhooks);
    const onError: ErrorRequestHandler = (error: { code?: unknown }, _req, res, _next) => {
      codes.push(error.code);
      res.sendStatus(500);
    };
    app.use(onError);
    return { listener: app, inbox: webhooks.inbox, codes };
  };
  return {
    whole: {
      'app.use(inbox)': mounted((app, webhooks) => void app.use(webhooks)),
      'app.use("/", inbox)': mounted((app, webhooks) => void app.use('/', webhooks)),
      'a router that is mounted without a path': mounted(
        (app, webhooks) => void app.use(create.Router().use(webhooks)),
      ),
      'app.use(inbox) behind the middleware': mounted(
        (app, webhooks) => void app.use('/login', webhookBackpressure()).use(webhooks),
      ),
      'app.use(inbox) after a route that calls next': mounted((app, webhooks) => {
        app.post('/login', (_req, _res, next) => {
          next();
        });
        app.use(webhooks);
      }),
      'a sub-app at the root': mounted((app, webhooks) => void app.use('/', create().use(webhooks))),
    },
    some: {
      'app.post(path, inbox)': mounted((app, webhooks) => void app.post('/login', webhooks)),
      'app.use(path, inbox)': mounted((app, webhooks) => void app.use('/login', webhooks)),
      'a router at a path': mounted((app, webhooks) => void app.use('/login', create.Router().use(webhooks))),
      'a sub-app at a path': mounted((app, webhooks) => void app.use('/login', create().use(webhooks))),
      'a route for all paths': mounted((app, webhooks) => void app.post(/.*/, webhooks)),
      'at another path, and a function that chooses this one': mounted((app, webhooks) => {
        app.use('/webhooks', webhooks);
        app.use((req, res, next) => {
          if (req.path === '/login') void webhooks(req, res, next);
          else next();
        });
      }),
      'a function that chooses the paths': mounted((app, webhooks) => {
        app.use((req, res, next) => {
          if (req.path === '/login') void webhooks(req, res, next);
          else next();
        });
      }),
    },
  };
}

function ofKoa(Koa: typeof Koa3): { whole: Mounts; some: Mounts } {
  const mounted = (mount: (app: Koa3, webhooks: ReturnType<typeof forKoa>) => void) => (): Mounted => {
    const app = new Koa();
    const webhooks = forKoa(options());
    const codes: unknown[] = [];
    app.on('error', ({ code }: { code?: unknown }) => codes.push(code));
    mount(app, webhooks);
    return { listener: app.callback(), inbox: webhooks.inbox, codes };
  };
  return {
    whole: { 'app.use(inbox)': mounted((app, webhooks) => void app.use(webhooks)) },
    some: {
      'a function that chooses the paths, as a router': mounted((app, webhooks) => {
        app.use((ctx, next): unknown => (ctx.path === '/login' ? webhooks(ctx, next) : next()));
      }),
    },
  };
}

function ofHono(Hono: typeof HonoLatest): { whole: Mounts; some: Mounts } {
  const mounted = (mount: (app: HonoLatest, webhooks: ReturnType<typeof forHono>) => void) => (): Mounted => {
    const app = new Hono();
    const webhooks = forHono(options() as Parameters<typeof forHono>[0]);
    const codes: unknown[] = [];
    app.onError((error, c) => {
      codes.push((error as { code?: unknown }).code);
      return c.body(null, 500);
    });
    mount(app, webhooks);
    return { listener: getRequestListener(app.fetch), inbox: webhooks.inbox, codes };
  };
  return {
    whole: {
      'app.use(inbox)': mounted((app, webhooks) => void app.use(webhooks)),
      'app.use("*", inbox)': mounted((app, webhooks) => void app.use('*', webhooks)),
      'a sub-app at the root': mounted((app, webhooks) => void app.route('/', new Hono().use(webhooks))),
    },
    some: {
      'app.post(path, inbox)': mounted((app, webhooks) => void app.post('/login', webhooks)),
      'app.use(path, inbox)': mounted((app, webhooks) => void app.use('/login', webhooks)),
      'a sub-app at a path': mounted((app, webhooks) => void app.route('/login', new Hono().use(webhooks))),
      'a base path': mounted((app, webhooks) => void app.basePath('/login').use(webhooks)),
      'a route for all paths': mounted((app, webhooks) => void app.post('*', webhooks)),
      'a function that chooses the paths': mounted((app, webhooks) => {
        app.use((c, next) => (c.req.path === '/login' ? webhooks(c, next) : next()));
      }),
    },
  };
}

const frameworks = {
  'Express 4.18': ofExpress(express4),
  'Express 5': ofExpress(express5),
  'Koa 2.13': ofKoa(Koa2),
  'Koa 3': ofKoa(Koa3),
  'Hono 4.0': ofHono(Hono40),
  'Hono 4': ofHono(HonoLatest),
};
const cases = (which: 'whole' | 'some'): [string, () => Mounted][] =>
  Object.entries(frameworks).flatMap(([name, mounts]) =>
    Object.entries(mounts[which]).map(([how, mount]): [string, () => Mounted] => [`${name}: ${how}`, mount]),
  );

let server: Server;
const sender = new Sender(false);

afterEach(() => {
  server.close();
});

async function login({ listener, inbox, codes }: Mounted): Promise<object> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { status } = await sender.send(port, { path: '/login' }).reply;
  return { status, stored: inbox.snapshot().totals.stored, codes };
}

describe('an inbox that is mounted for a whole app', () => {
  it.each(cases('whole'))('stores nothing of it (%s)', async (_, mount) => {
    expect(await login(mount())).toEqual({ status: 500, stored: 0, codes: ['ERR_WBP_MOUNT'] });
  });

  it.each(cases('some'))('is not an inbox at a path (%s)', async (_, mount) => {
    expect(await login(mount())).toEqual({ status: 200, stored: 1, codes: [] });
  });
});
