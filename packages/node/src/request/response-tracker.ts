import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { TimeLimit } from '@webhook-backpressure/base';
import type { Handling } from '@webhook-backpressure/core/middleware';
import { finishedOf, majorVersionOf, responseSocketOf, socketOf, statusOf } from './read-property.ts';
import { SlowReaders } from './slow-readers.ts';

/**
 * Follows the responses of deliveries: when a response is over or its connection has closed, its delivery leaves the
 * queue or has its answer. A handler that returns no promise, as in Express, is taken to have ended when it ends its
 * response, also after the connection has closed.
 */
export class ResponseTracker {
  readonly #readers: SlowReaders;
  /** Handlers that may never report their end. */
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
    // Later the request may have none: undici removes it from a request that it has sent on as a body.
    const socket = socketOf(req);
    // `close` is emitted once, so `once` would only cost two more objects.
    res.on('close', () => {
      this.#readers.forget(watched);
      if (isCutOff(socket, req, res)) handling.cutOff();
      else handling.endResponse(statusOf(res) >= 500 ? 'failure' : 'success');
      const isFinished = finishedOf(res);
      if (isFinished && !handling.isFollowed) handling.endHandler();
      // A handler that destroys its response has ended: the promise of Koa 3 never settles then.
      else if (isDestroyed(res)) handling.endHandler();
      else if (!isFinished && !handling.isFollowed) this.#awaitEnd(handling, req, res);
    });
  }

  /** The sender has gone, and the handler has not ended its response yet. */
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
    // A source that is piped into the response, as in `sendFile`, stops when the response closes.
    res.on('unpipe', hasEnded);
    // In the middle of an answer, or of a body that stays incomplete, many handlers and frameworks just stop.
    if (res.headersSent || !req.complete) this.#leaving.start(handling);
  }
}

/** Whether `destroy` was called: before that, `errored` is null in HTTP/1, and then the error or undefined. */
function isDestroyed(res: ServerResponse): boolean {
  return !('stream' in res) && res.errored !== null;
}

/** Whether the response closed before all of it was on its way. */
function isCutOff(socket: Socket, req: IncomingMessage, res: ServerResponse): boolean {
  if (majorVersionOf(req) > 1) {
    const { stream } = res as unknown as Http2ServerResponse;
    return stream.aborted || stream.rstCode !== 0 || !stream.writableFinished;
  }
  // Node detaches the socket from a response that has been sent before it closes. It also does so after a failed last
  // write, since the callback is called all the same.
  const own = responseSocketOf(res);
  // A response without a connection, such as one of `inject()` of Fastify, writes to a stream that stays attached.
  if (own !== null && own !== socket) return !finishedOf(res);
  return own !== null || (socket.destroyed && socket.errored !== null);
}
