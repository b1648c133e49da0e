import { createServer, type RequestListener } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { webhookBackpressure } from '@webhook-backpressure/fastify';
import type fastify5 from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { around } from './around.ts';
import { translated, type Driver, type Exchange, type Outflow } from './exchange.ts';

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

/** An app whose listener can be called by any server, also before it is ready, and which leaves bodies unread. */
export function fastifyApp(create: typeof fastify5): { app: FastifyInstance; listener: RequestListener } {
  const handlers: RequestListener[] = [];
  const app = create({
    serverFactory(handler) {
      handlers.push(handler);
      return createServer(handler);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload);
  });
  let isReady = false;
  const listener: RequestListener = (req, res) => {
    if (isReady) {
      for (const handler of handlers) handler(req, res);
      return;
    }
    void app.ready().then(() => {
      isReady = true;
      listener(req, res);
    });
  };
  return { app, listener };
}

export function fastify(name: string, create: typeof fastify5): Driver {
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
