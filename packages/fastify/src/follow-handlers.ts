import type { ServerResponse } from 'node:http';
import type { Handling } from '@webhook-backpressure/core/middleware';
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
      const watched = watch(reply);
      const returned: unknown = handler.call(this, request, reply);
      if (returned !== reply && isThenable(returned)) {
        handling.follow(handlerEnd(returned, reply, watched));
        return returned;
      }
      // Fastify does not end a response whose sender has gone if a web stream is sent.
      const endIfGone = (): void => {
        if (watched.isSent && handling.isAnswered) handling.endHandler();
      };
      watched.onSent = endIfGone;
      endIfGone();
      // It sends the reply later, from a callback. With `undefined` Fastify waits for that, also when the sender has gone.
      return returned === reply ? undefined : returned;
    };
  });
  return (request, handling) => {
    (request as Followed)[name] = handling;
  };
}

type Followed = FastifyRequest & Record<symbol, Handling | undefined>;

/**
 * Settles when an async handler has ended. One that awaits or returns its reply may send it from a callback. Its promise
 * settles when the response is over, also because the sender has gone, and then the callback is still to come.
 */
async function handlerEnd(
  returned: PromiseLike<unknown>,
  reply: FastifyReply,
  watched: WatchedReply,
): Promise<void> {
  await returned;
  if (watched.isAwaited && !watched.isSent && !reply.raw.writableEnded) await ended(reply.raw, watched);
}

const WATCHED = Symbol('webhook-backpressure.watched');

interface WatchedReply {
  /** Fastify makes replies thenable. */
  isAwaited: boolean;
  isSent: boolean;
  onSent: (() => void) | undefined;
  readonly originalThen: FastifyReply['then'];
  readonly originalSend: FastifyReply['send'];
  /** Of another intake that the request passed before. */
  readonly outer: WatchedReply | undefined;
}

type Watchable = FastifyReply & { [WATCHED]?: WatchedReply };

function watch(reply: Watchable): WatchedReply {
  const outer = reply[WATCHED];
  const watched: WatchedReply = {
    isAwaited: false,
    isSent: false,
    onSent: undefined,
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the reply
    originalThen: outer?.originalThen ?? reply.then,
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the reply
    originalSend: outer?.originalSend ?? reply.send,
    outer,
  };
  reply[WATCHED] = watched;
  if (outer === undefined) {
    // Not a closure for each reply: V8 then moves each of them to its old generation, which costs 2 µs on Node 26.
    reply.then = thenWatched;
    reply.send = sendWatched;
  }
  return watched;
}

function thenWatched(this: Watchable, ...given: Parameters<FastifyReply['then']>): void {
  const innermost = this[WATCHED];
  for (let watched = innermost; watched !== undefined; watched = watched.outer) watched.isAwaited = true;
  innermost?.originalThen.apply(this, given);
}

function sendWatched(this: Watchable, payload?: unknown): FastifyReply {
  const innermost = this[WATCHED];
  for (let watched = innermost; watched !== undefined; watched = watched.outer) {
    watched.isSent = true;
    watched.onSent?.();
  }
  return innermost?.originalSend.call(this, payload) ?? this;
}

/** Resolves when the reply has been sent, or a hijacked response has ended or was cut off. */
function ended(res: ServerResponse, watched: WatchedReply): Promise<void> {
  return new Promise((resolve) => {
    watched.onSent = resolve;
    const end = res.end.bind(res) as (...given: unknown[]) => ServerResponse;
    res.end = (...given: unknown[]): ServerResponse => {
      resolve();
      return end(...given);
    };
    // In the middle of an answer, many handlers just stop.
    res.once('close', () => {
      if (res.headersSent) resolve();
    });
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
