import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { type Inbox, type InboxEvent, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { webhookInbox as forExpress } from '@webhook-backpressure/express/inbox';
import { webhookInbox as forFastify } from '@webhook-backpressure/fastify/inbox';
import { webhookInbox as forHono } from '@webhook-backpressure/hono/inbox';
import { webhookInbox as forKoa } from '@webhook-backpressure/koa/inbox';
import { webhookInbox as forNode } from '@webhook-backpressure/node/inbox';
import type { RequestListener } from '@webhook-backpressure/node';
import { webhookInbox as forWeb } from '@webhook-backpressure/web/inbox';
import type express5 from 'express';
import type { ErrorRequestHandler } from 'express';
import type fastify5 from 'fastify';
import type { Hono as HonoLatest } from 'hono';
import type Koa3 from 'koa';
import { fastifyApp } from '../../conformance/fastify-driver.ts';
import { onEvery } from '../../conformance/frameworks.ts';
import type { ServeWeb } from '../../conformance/web-servers.ts';

/** An app with an inbox at /webhooks that answers 418 to requests that the inbox passes on. */
interface Served {
  readonly listener: RequestListener;
  readonly inbox: Inbox;
}

export interface InboxDriver {
  readonly name: string;
  /** Whether the framework can pass a request on. */
  readonly hasNext: boolean;
  /** `reads`: another middleware reads the body before the inbox. */
  serve(options: InboxOptions, reads: boolean, onError: (error: unknown) => void): Served;
}

const node: InboxDriver = {
  name: 'node:http',
  hasNext: false,
  serve(options, reads) {
    const webhooks = forNode(options);
    const listener: RequestListener = (req, res) => {
      if (reads)
        void text(req).then(() => {
          webhooks(req, res);
        });
      else webhooks(req, res);
    };
    return { listener, inbox: webhooks.inbox };
  },
};

function express(name: string, create: typeof express5): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = create();
      const webhooks = forExpress(options);
      if (reads) app.use(create.json());
      app.all('/webhooks', webhooks, (_req, res) => void res.sendStatus(418));
      const onFailure: ErrorRequestHandler = (error, _req, res, _next) => {
        onError(error);
        res.sendStatus(500);
      };
      app.use(onFailure);
      return { listener: app, inbox: webhooks.inbox };
    },
  };
}

function fastify(name: string, create: typeof fastify5): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const { app, listener } = fastifyApp(create);
      const webhooks = forFastify(options);
      app.setErrorHandler((error, _request, reply) => {
        onError(error);
        return reply.code(500).send();
      });
      if (reads) app.addHook('onRequest', ({ raw }) => text(raw));
      app.all('/webhooks', { ...webhooks, handler: (_request, reply) => reply.code(418).send() });
      return { listener, inbox: webhooks.inbox };
    },
  };
}

function koa(name: string, Koa: typeof Koa3): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = new Koa();
      const webhooks = forKoa(options);
      app.on('error', onError);
      if (reads) {
        app.use(async (ctx, next) => {
          await text(ctx.req);
          await next();
        });
      }
      app.use(webhooks);
      app.use((ctx) => {
        ctx.status = 418;
      });
      return { listener: app.callback(), inbox: webhooks.inbox };
    },
  };
}

function hono(name: string, Hono: typeof HonoLatest): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const app = new Hono();
      const webhooks = forHono(options);
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

function web(name: string, serveWeb: ServeWeb): InboxDriver {
  return {
    name,
    hasNext: false,
    serve(options, reads, onError) {
      const webhooks = forWeb(options);
      const fetch = async (request: Request): Promise<Response> => {
        if (reads) await request.text();
        return webhooks(request).catch((error: unknown) => {
          onError(error);
          return new Response(null, { status: 500 });
        });
      };
      return { listener: serveWeb(fetch), inbox: webhooks.inbox };
    },
  };
}

export const inboxDrivers: readonly InboxDriver[] = onEvery<InboxDriver>({
  node,
  express,
  fastify,
  koa,
  hono,
  web,
});

const running: InboxReceiver[] = [];

export async function stopReceivers(): Promise<void> {
  await Promise.all(running.splice(0).map((receiver) => receiver.stop()));
}

/** A server with an inbox. */
export class InboxReceiver {
  readonly inbox: Inbox;
  readonly errors: unknown[] = [];
  readonly events: InboxEvent[] = [];
  readonly server: Server;
  readonly #sockets: Socket[] = [];

  constructor(driver: InboxDriver, options: Partial<InboxOptions> = {}, reads = false) {
    const defaults = { store: memoryStore(), process: () => undefined, verify: false } as const;
    const served = driver.serve({ ...defaults, ...options }, reads, (error) => this.errors.push(error));
    this.inbox = served.inbox;
    this.inbox.subscribe((event) => this.events.push(event));
    this.server = createServer((req, res) => void served.listener(req, res));
    running.push(this);
  }

  async start(): Promise<this> {
    this.server.listen(0);
    await once(this.server, 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  post(body: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}): Promise<Response> {
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      body: body as string,
      headers,
      duplex: 'half',
    };
    return fetch(`http://127.0.0.1:${String(this.port)}/webhooks`, init);
  }

  /** A raw connection. */
  async dial(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    this.#sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves on the next event of a type. */
  next(type: InboxEvent['type']): Promise<InboxEvent> {
    return new Promise((resolve) => {
      const end = this.inbox.subscribe((event) => {
        if (event.type !== type) return;
        end();
        resolve(event);
      });
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.closeAllConnections();
    this.server.close();
    await this.inbox.close({ timeoutMs: 0 });
  }
}
