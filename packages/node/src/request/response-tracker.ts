import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { TimeLimit, type Handling } from '@webhook-backpressure/core';
import { readProperty } from './read-property.ts';
import { SlowReaders } from './slow-readers.ts';

/**
 * Binds deliveries to the life of their responses: when a response is over, or its connection has closed, its delivery
 * leaves the queue or has got its answer. A handler that returned no promise, as in Express, is taken to have ended when
 * it ends its response, also one whose connection has closed.
 */
export class ResponseTracker {
  readonly #readers: SlowReaders;
  /** Handlers that may never say that they have ended. */
  readonly #leaving: TimeLimit<Handling>;

  /** @param timeoutMs - the option `bodyTimeoutMs`. */
  constructor(timeoutMs: number) {
    this.#readers = new SlowReaders(timeoutMs);
    this.#leaving = new TimeLimit(timeoutMs, (handling) => {
      handling.giveUp();
    });
  }

  track(handling: Handling, req: IncomingMessage, res: ServerResponse): void {
    const watched = this.#readers.watch(handling, res);
    // It comes once, so nothing is won by `once`, which costs two more objects.
    res.on('close', () => {
      this.#readers.forget(watched);
      if (isCutOff(req, res)) handling.cutOff();
      else handling.endResponse(readProperty(res, 'statusCode') >= 500 ? 'failure' : 'success');
      // Whoever destroys a response has done with it: the promise of Koa 3 never settles then.
      if (isDestroyed(res)) handling.endHandler();
      else if (handling.isFollowed) return;
      else if (readProperty(res, 'finished')) handling.endHandler();
      else this.#awaitEnd(handling, req, res);
    });
  }

  /** The sender has gone, and the handler has not ended its response. It will do so, like any, and nobody will hear it. */
  #awaitEnd(handling: Handling, req: IncomingMessage, res: ServerResponse): void {
    const hasEnded = (): void => {
      this.#leaving.stop(handling);
      handling.endHandler();
    };
    const end = res.end.bind(res) as (...given: unknown[]) => ServerResponse;
    res.end = (...given: unknown[]): ServerResponse => {
      hasEnded();
      return end(...given);
    };
    // A source that is piped into the response, as of `sendFile`, stops when the response closes.
    res.on('unpipe', hasEnded);
    // In the middle of an answer, or of a body that will never be whole, many handlers and frameworks just stop.
    if (readProperty(res, 'headersSent') || !req.complete) this.#leaving.start(handling);
  }
}

/** Whether somebody has called `destroy`: until then node has null there, and then the error or undefined. */
function isDestroyed(res: ServerResponse): boolean {
  return !('stream' in res) && res.errored !== null;
}

/** Whether the response has closed before all of it was on its way. */
function isCutOff(req: IncomingMessage, res: ServerResponse): boolean {
  const stream = readProperty(res as unknown as Partial<Http2ServerResponse>, 'stream');
  if (stream !== undefined) return stream.aborted || stream.rstCode !== 0 || !stream.writableFinished;
  // Node takes the socket away from a response that has been sent, before that closes; and also where the last write has
  // failed, since it calls back all the same.
  const socket = readProperty(req, 'socket');
  return readProperty(res, 'socket') !== null || (socket.destroyed && socket.errored !== null);
}
