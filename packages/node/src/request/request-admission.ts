import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import { type AdmissionControl, bodyTimedOut, type Handling } from '@webhook-backpressure/core/middleware';
import type { Delivery, Refusal } from '@webhook-backpressure/core';
import { BodyArrivals, endOfTurn, hasArrived, isItsTurn, itsTurn } from './arrival.ts';
import { finishedOf, socketOf, versionOf } from './messages.ts';
import { writeRefusal } from './refuse.ts';
import { Responses } from './responses.ts';

/** A request that may run, its refusal, or null if its sender has gone or has been answered. */
export type Verdict = Handling | Refusal | null;

/** The number of deliveries that are checked for a body that a parser has read before. */
const CHECKED = 1000;

/**
 * Admits requests, and holds each permit until the response and the handler have ended. Queue places and workers are for
 * deliveries that can be handled: a request with a body enters the queue when the body has arrived, and a pipelined request
 * when the responses before it have been sent. A delivery leaves the queue if its sender goes.
 */
export class RequestAdmission<R> {
  readonly #control: AdmissionControl<R>;
  readonly #bodies: BodyArrivals;
  readonly #responses: Responses;
  readonly #answers: Answers;
  #checksLeft = CHECKED;

  /** @param answers - for a framework that ignores what is written to node's response. */
  constructor(control: AdmissionControl<R>, answers: Answers = ANSWERS) {
    this.#control = control;
    this.#answers = answers;
    this.#bodies = new BodyArrivals(control.bodyTimeoutMs);
    this.#responses = new Responses(control.bodyTimeoutMs, () => {
      this.#warnOfAnswer();
    });
  }

  /**
   * Admits or refuses a request once its body has arrived or fills the buffer.
   *
   * @param request - the framework's request.
   * @param askForBody - asks a sender for its body that waits for `100 Continue`.
   * @returns a promise only if the delivery has to wait.
   */
  admit(
    request: R,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody?: () => void,
  ): Verdict | Promise<Verdict> {
    const socket = socketOf(req);
    if (isGone(socket, req, res)) return null;
    const delivery = this.#control.read(request);
    if (this.#checksLeft > 0) {
      this.#checksLeft -= 1;
      if (req.readableDidRead) this.#warnOfParser();
    }
    if (hasArrived(req) && isItsTurn(socket, res)) return this.#admit(delivery, req, res, 0);
    return this.#admitWhenReady(delivery, req, res, askForBody);
  }

  async #admitWhenReady(
    delivery: Delivery,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody: (() => void) | undefined,
  ): Promise<Verdict> {
    const since = performance.now();
    const { socket } = req;
    if (!isItsTurn(socket, res) && !(await itsTurn(socket, res))) return this.#answers.gone(res);
    await endOfTurn();
    if (isGone(socket, req, res)) return this.#answers.gone(res);
    // A delivery that would be refused is refused with its body unread. In a dry run nothing waits.
    const waits = !hasArrived(req) && !this.#control.intake.dryRun && this.#control.accepts(delivery);
    try {
      if (waits) {
        askForBody?.();
        const how = await this.#bodies.wait(req);
        if (how === 'late') return this.#answers.late(req, res, delivery);
        if (how === 'gone' || isGone(socket, req, res)) return this.#answers.gone(res);
      }
      const verdict = await this.#admit(delivery, req, res, performance.now() - since);
      if (verdict?.admitted === true) askForBody?.();
      return verdict;
    } finally {
      if (waits) this.#bodies.release(req);
    }
  }

  #admit(
    delivery: Delivery,
    req: IncomingMessage,
    res: ServerResponse,
    ageMs: number,
  ): Verdict | Promise<Verdict> {
    const handling = this.#control.admit(delivery, ageMs);
    if (!handling.admitted) return handling;

    this.#responses.follow(handling, req, res);
    if (handling.tryStart()) return handling;
    if (req.backpressure !== undefined) this.#warnOfNesting();
    return this.#start(handling, req, res);
  }

  async #start(handling: Handling, req: IncomingMessage, res: ServerResponse): Promise<Verdict> {
    const result = await handling.start(() => isGone(req.socket, req, res));
    if (result === true) return handling;
    return result === false ? this.#answers.gone(res) : result;
  }

  #warnOfParser(): void {
    this.#checksLeft = 0;
    this.#control.warnOnce(
      'WBP_BODY_READ',
      'A body parser ran before the middleware, so queued deliveries hold their bodies in memory, and refused ones were ' +
        'parsed for nothing. Mount the middleware and its route before the parser: a signature covers the bytes as sent.',
    );
  }

  #warnOfAnswer(): void {
    this.#control.warnOnce(
      'WBP_ANSWERED',
      'Something other than its handler has answered a delivery, such as a timeout that is mounted before the middleware. ' +
        'A queued delivery then leaves the queue, and a worker stays occupied until the handler has ended. Mount timeouts ' +
        'after the middleware, and let handlers return a promise, or pass one to waitUntil.',
    );
  }

  #warnOfNesting(): void {
    this.#control.warnOnce(
      'WBP_NESTED',
      'A delivery that occupies a worker of one intake waits for a worker of another, and the first worker is blocked ' +
        'meanwhile. Pass the same intake to both middlewares, with the option `intake`.',
    );
  }
}

/** How requests that are neither admitted nor refused are answered. */
export interface Answers {
  /** A request whose body did not arrive in time. */
  late(req: IncomingMessage, res: ServerResponse, delivery: Delivery): null;
  /** A request whose sender has gone. */
  gone(res: ServerResponse): null;
}

const ANSWERS: Answers = {
  late(req, res, delivery) {
    writeRefusal(req, res, bodyTimedOut(delivery));
    return null;
  },
  gone(res) {
    // The sender does not read it, but an outer intake waits for the end of the response.
    if (!res.writableEnded) res.end();
    return null;
  },
};

/** Whether the connection has closed, the response has ended, or the sender has reset the HTTP/2 stream. */
function isGone(socket: Socket, req: IncomingMessage, res: ServerResponse): boolean {
  if (socket.destroyed || finishedOf(res)) return true;
  if (versionOf(req) === 1) return false;
  const { stream } = req as unknown as Partial<Http2ServerRequest>;
  return stream !== undefined && (stream.aborted || stream.destroyed || stream.rstCode !== 0);
}
