import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { webhookBackpressure } from '@webhook-backpressure/fastify';
import { webhookInbox } from '@webhook-backpressure/fastify/inbox';
import fastify5 from 'fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fastify4 from 'fastify4';
import { fastifyApp as appOfAllResponses } from '../../frameworks/fastify-app.ts';
import type { Adapter, FrameworkApp, InboxDriver, RoutedInbox } from '../adapter.ts';
import { around } from '../around.ts';
import { translated, type Driver, type Exchange, type Outflow } from '../exchange.ts';
import { fastifyApp } from '../fastify-app.ts';

interface FastifyExchange extends Exchange {
  payload: unknown;
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply): FastifyExchange {
  const exchange: FastifyExchange = {
    payload: undefined,
    info: request.backpressure,
    read: () => text(request.raw),
    answer(status, body) {
      void reply.code(status);
      exchange.payload = body;
    },
    stream(): Outflow {
      const body = new PassThrough();
      exchange.payload = body;
      return {
        write: (chunk) => void body.write(chunk),
        end: () => void body.end(),
        fail: (error) => void body.destroy(error),
      };
    },
  };
  return exchange;
}

async function payloadOf(exchange: Exchange, result: unknown): Promise<unknown> {
  await result;
  return (exchange as FastifyExchange).payload;
}

function driver(name: string, create: typeof fastify5): Driver {
  return {
    name,
    hasNext: true,
    cutsBrokenStreams: true,
    seesConnection: true,
    answersForHandlers: false,
    serve({ options, handle, onError, isNextTwice, isMountedTwice, ...host }) {
      const { app, listener } = fastifyApp(create);
      app.setErrorHandler((error, _request, reply) => {
        onError(error);
        return reply.code(500).send();
      });
      const { intake } = options;
      if (intake === undefined) throw new Error('The suite observes an intake.');
      const own = translated(
        options,
        ({ method, headers }: FastifyRequest) => ({
          method,
          header: (field) => headers[field] as string | undefined,
        }),
        exchangeOf,
        payloadOf,
      );
      app.register(webhookBackpressure, own);
      app.register((scope, _options, done) => {
        if (isMountedTwice) scope.register(webhookBackpressure, own);
        if (isNextTwice) {
          scope.addHook('preHandler', (_request, _reply, next) => {
            next();
            next();
          });
        }
        scope.all('/*', (request, reply) => {
          const exchange = exchangeOf(request, reply);
          return payloadOf(exchange, handle(exchange));
        });
        done();
      });
      return { listener: around(listener, host), intake };
    },
  };
}

function inbox(name: string, create: typeof fastify5): InboxDriver {
  return {
    name,
    hasNext: true,
    serve(options, reads, onError) {
      const { app, listener } = fastifyApp(create);
      const webhooks = webhookInbox(options);
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

function routed(name: string, create: typeof fastify5): RoutedInbox {
  return {
    name,
    hasRoutes: true,
    seesSentUrl: true,
    mount({ options }) {
      const webhooks = webhookInbox({ ...options, context: ({ headers }) => ({ from: headers['x-from'] }) });
      const { app, listener } = fastifyApp(create);
      app.post('/api/:version/hooks/:tenant', webhooks);
      return { listener, inbox: webhooks.inbox };
    },
  };
}

function app(name: string, create: typeof fastify5): FrameworkApp {
  return {
    name,
    serve: (options) =>
      appOfAllResponses(create, (scope) => options && scope.register(webhookBackpressure, options)),
    // A path that cannot be decoded.
    unseen: 1,
  };
}

export const adapters: readonly Adapter[] = (
  [
    ['Fastify 4.0', fastify4],
    ['Fastify 5', fastify5],
  ] as const
).map(([name, create]) => ({
  driver: driver(name, create),
  inbox: inbox(name, create),
  routed: routed(name, create),
  app: app(name, create),
}));
