import type { ServerResponse } from 'node:http';
import type { Handling } from '@webhook-backpressure/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Registers the delivery of a request, before its handler runs. */
export type Follow = (request: FastifyRequest, handling: Handling) => void;

/**
 * Follows the handlers of the routes that are declared from now on, in this scope and in those inside it. A permit is
 * then held until the promise of the handler has settled, also when the sender has gone: Fastify ignores what it
 * resolves to then. The handler of an earlier route is taken to have ended when it ends its response, as in Express.
 */
export function followHandlers(fastify: FastifyInstance): Follow {
  // One for each registration: a request may pass several intakes.
  const name = Symbol('webhook-backpressure.handling');
  fastify.decorateRequest(name, undefined);
  fastify.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply): unknown {
      const handling = (request as Followed)[name];
      if (handling === undefined) return handler.call(this, request, reply);
      const wasAwaited = watchThen(reply);
      const returned: unknown = handler.call(this, request, reply);
      // It sends the reply later, from a callback. With `undefined` Fastify waits for that, also when the sender has gone.
      if (returned === reply) return undefined;
      if (isThenable(returned)) handling.follow(handlerEnd(returned, reply, wasAwaited));
      return returned;
    };
  });
  return (request, handling) => {
    (request as Followed)[name] = handling;
  };
}

type Followed = FastifyRequest & Record<symbol, Handling | undefined>;

/**
 * Settles when an async handler has ended. One that awaits or returns its reply sends it from a callback. Its promise
 * settles when the response is over, also because the sender has gone, and then the callback is still to come.
 */
async function handlerEnd(
  returned: PromiseLike<unknown>,
  reply: FastifyReply,
  wasAwaited: () => boolean,
): Promise<void> {
  await returned;
  if (wasAwaited() && !reply.raw.writableEnded) await ended(reply.raw);
}

/** Fastify makes replies thenable. Returns a function that returns whether `then` has been called. */
function watchThen(reply: FastifyReply): () => boolean {
  const then = reply.then.bind(reply);
  let isCalled = false;
  reply.then = (...given): void => {
    isCalled = true;
    then(...given);
  };
  return () => isCalled;
}

function ended(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = res.end.bind(res) as (...given: unknown[]) => ServerResponse;
    res.end = (...given: unknown[]): ServerResponse => {
      resolve();
      return end(...given);
    };
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
