import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { boundToThisContext, TimeLimit } from '@webhook-backpressure/base';
import type { Handling } from '@webhook-backpressure/core/middleware';
import { finishedOf, isTimedOut, responseSocketOf, socketOf, statusOf, versionOf } from './messages.ts';

const SWEEP_MS = 1000;
/** An answer of which the reader takes nothing for this long is cut off. */
const CUT_MS = 60_000;

/** A response that is not over, in a linked list. A Set would cost several times as much for each response. */
interface Open {
  readonly handling: Handling;
  readonly res: ServerResponse;
  /** Since when the ended response has been waiting for its reader; -1 while it is not. */
  stuckSinceMs: number;
  previous: Open | null;
  next: Open | null;
}

/**
 * Follows the responses of deliveries: when a response is over or its connection has closed, its delivery leaves the
 * queue or has its answer. A handler that returns no promise, as in Express, is taken to have ended when it ends its
 * response, also after the connection has closed. If something else has answered, a queued delivery leaves the queue, and
 * the permit of a running one is held until the handler has really ended, where that shows.
 *
 * A permit is held until the response has been sent, so a sender that asks for large responses and reads none of them
 * would hold all workers. A response that has ended and has not been sent after the timeout holds no permit any more. It
 * is cut off only after a minute in which nothing of it is taken: a slow reader takes something every few seconds.
 */
export class Responses {
  readonly #timeoutMs: number;
  /** Handlers that may never report their end. */
  readonly #leaving: TimeLimit<Handling>;
  readonly #onAnswered: () => void;
  readonly #every: (action: () => void) => NodeJS.Timeout;
  #first: Open | null = null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param timeoutMs - the option `bodyTimeoutMs`.
   * @param onAnswered - called when something other than its handler has answered a delivery.
   */
  constructor(timeoutMs: number, onAnswered: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onAnswered = onAnswered;
    this.#leaving = new TimeLimit(timeoutMs, (handling) => {
      handling.giveUp();
    });
    // A timer that is set in a request would keep the async context of that request while there is traffic.
    this.#every = boundToThisContext((action) => setInterval(action, SWEEP_MS).unref());
  }

  follow(handling: Handling, req: IncomingMessage, res: ServerResponse): void {
    const open: Open = { handling, res, stuckSinceMs: -1, previous: null, next: this.#first };
    if (this.#first !== null) this.#first.previous = open;
    this.#first = open;
    this.#timer ??= this.#every(this.#sweep);
    // Later the request may have none: undici removes it from a request that it has sent on as a body.
    const socket = socketOf(req);
    // `close` is emitted once, so `once` would only cost two more objects.
    res.on('close', () => {
      if (open.previous === null) this.#first = open.next;
      else open.previous.next = open.next;
      if (open.next !== null) open.next.previous = open.previous;

      const isQueued = handling.isQueued;
      if (isCutOff(socket, req, res)) handling.cutOff();
      else handling.endResponse(statusOf(res) >= 500 ? 'failure' : 'success');
      const isFinished = finishedOf(res);
      if (isFinished && (isQueued || isTimedOut(req))) this.#answeredElsewhere(handling, req, res, isQueued);
      else if (isFinished && !handling.isFollowed) handling.endHandler();
      // A handler that destroys its response has ended: the promise of Koa 3 never settles then.
      else if (isDestroyed(res)) handling.endHandler();
      else if (!isFinished && !handling.isFollowed) this.#awaitEnd(handling, req, res);
    });
  }

  /** A timeout has answered. A handler that has not started never will, and one that returns no promise may answer too. */
  #answeredElsewhere(
    handling: Handling,
    req: IncomingMessage,
    res: ServerResponse,
    wasQueued: boolean,
  ): void {
    this.#onAnswered();
    if (handling.isFollowed) return;
    if (wasQueued || handling.isHeld) {
      handling.endHandler();
      return;
    }
    // Each of them is a late answer, of which Express throws the first one.
    for (const name of ['setHeader', 'writeHead', 'end'] as const) {
      const call = res[name].bind(res) as (...given: unknown[]) => ServerResponse;
      res[name] = (...given: unknown[]): ServerResponse => {
        handling.endHandler();
        return call(...given);
      };
    }
    // Others ask whether it is too late, as the README of connect-timeout shows, and stop.
    endWhenRead(handling, req, 'timedout');
    endWhenRead(handling, res, 'headersSent');
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

  readonly #sweep = (): void => {
    const now = performance.now();
    for (let open = this.#first; open !== null; open = open.next) this.#check(open, now);
    if (this.#first !== null) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  /** Releases the permit of a response that is not read. */
  #check(open: Open, now: number): void {
    const { res, handling } = open;
    if (handling.isAnswered || !res.writableEnded || res.writableLength === 0) return;
    if (open.stuckSinceMs < 0) open.stuckSinceMs = now;
    if (now - open.stuckSinceMs < this.#timeoutMs - SWEEP_MS) return;
    handling.endResponse('success');
    if (!handling.isFollowed) handling.endHandler();
    res.setTimeout(CUT_MS, () => {
      if (res.writableLength > 0) res.destroy();
    });
  }
}

/** By then both are true. Timeouts of several levels set `timedout` again. */
function endWhenRead(handling: Handling, message: IncomingMessage | ServerResponse, name: string): void {
  const get = (): boolean => {
    handling.endHandler();
    return true;
  };
  Object.defineProperty(message, name, { configurable: true, get, set: () => undefined });
}

/** Whether `destroy` was called: before that, `errored` is null in HTTP/1, and then the error or undefined. */
function isDestroyed(res: ServerResponse): boolean {
  return !('stream' in res) && res.errored !== null;
}

/** Whether the response closed before all of it was on its way. */
function isCutOff(socket: Socket, req: IncomingMessage, res: ServerResponse): boolean {
  if (versionOf(req) > 1) {
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
