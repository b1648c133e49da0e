import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import {
  BODY_TIMED_OUT,
  type Delivery,
  type AdmissionControl,
  type Handling,
  type Refusal,
} from '@webhook-backpressure/core';
import { BodyArrivals, hasArrived } from './body-arrival.ts';
import { isItsTurn, itsTurn } from './connection-turn.ts';
import { endOfTurn } from './end-of-turn.ts';
import { ResponseTracker } from './response-tracker.ts';
import { finishedOf, socketOf } from './read-property.ts';
import { writeRefusal } from './refuse.ts';

/** A request that may run, one that is refused, or, as null, one whose sender has gone or has been answered. */
export type Verdict = Handling | Refusal | null;

/** So many deliveries are looked at to find out whether a parser has read their bodies before. */
const LOOKED_AT = 1000;

/**
 * Takes requests through a control, and binds each permit to the life of the response and of the handler. A request with a
 * body knocks when the body has arrived, a pipelined one when its turn on the connection has come: a place in the queue,
 * and a worker, are for deliveries that can be handled. A sender that goes while its delivery waits leaves the queue.
 */
export class RequestAdmission<R> {
  readonly #control: AdmissionControl<R>;
  readonly #bodies: BodyArrivals;
  readonly #responses: ResponseTracker;
  readonly #answers: Answers;
  #looksLeft = LOOKED_AT;

  /** @param answers - for a framework that answers by itself, whatever is said to node's response. */
  constructor(control: AdmissionControl<R>, answers: Answers = ANSWERS) {
    this.#control = control;
    this.#answers = answers;
    this.#bodies = new BodyArrivals(control.bodyTimeoutMs);
    this.#responses = new ResponseTracker(control.bodyTimeoutMs);
  }

  /**
   * Admits or refuses a request once its body has arrived or fills the buffer.
   *
   * @param request - what the framework calls the request.
   * @param askForBody - where the sender waits to be asked for its body.
   * @returns immediately, unless there is something to wait for.
   */
  admit(
    request: R,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody?: () => void,
  ): Verdict | Promise<Verdict> {
    const socket = socketOf(req);
    if (isGone(socket, res)) return null;
    const delivery = this.#control.read(request);
    if (this.#looksLeft > 0) this.#lookAtBody(req);
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
    if (isGone(socket, res) || isReset(req)) return this.#answers.gone(res);
    // One that would be refused is refused with its body unread; in a dry run nothing waits.
    const arrival = this.#bodies.of(req);
    try {
      if (!hasArrived(req) && !this.#control.intake.dryRun && this.#control.accepts(delivery)) {
        askForBody?.();
        const how = await arrival.wait();
        if (how === 'late') return this.#answers.late(req, res);
        if (how === 'gone' || isGone(socket, res) || isReset(req)) return this.#answers.gone(res);
      }
      const verdict = await this.#admit(delivery, req, res, performance.now() - since);
      if (verdict?.admitted === true) askForBody?.();
      return verdict;
    } finally {
      arrival.close();
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

    this.#responses.track(handling, req, res);
    if (handling.tryStart()) return handling;
    if (req.backpressure !== undefined) this.#warnOfNesting();
    return this.#start(handling, req, res);
  }

  async #start(handling: Handling, req: IncomingMessage, res: ServerResponse): Promise<Verdict> {
    const result = await handling.start(() => isGone(req.socket, res) || isReset(req));
    if (result === true) return handling;
    return result === false ? this.#answers.gone(res) : result;
  }

  #lookAtBody(req: IncomingMessage): void {
    this.#looksLeft -= 1;
    if (!req.readableDidRead) return;
    this.#looksLeft = 0;
    this.#control.warnOnce(
      'WBP_BODY_READ',
      'A body parser has read the body before the delivery reached its intake. Waiting deliveries hold their bodies in ' +
        'memory then, and refused ones have been parsed for nothing. Mount the middleware before the parser.',
    );
  }

  #warnOfNesting(): void {
    this.#control.warnOnce(
      'WBP_NESTED',
      'A delivery that holds a worker of one intake waits for a worker of another one, and nobody can use the first ' +
        'meanwhile. Give both places the same intake, by the option `intake`.',
    );
  }
}

/** How requests that are neither admitted nor refused are answered. */
export interface Answers {
  /** A request whose body did not come in time. */
  late(req: IncomingMessage, res: ServerResponse): null;
  /** A request whose sender has gone. */
  gone(res: ServerResponse): null;
}

const ANSWERS: Answers = {
  late(req, res) {
    writeRefusal(req, res, BODY_TIMED_OUT);
    return null;
  },
  gone(res) {
    // Nobody reads it, but an intake around this one waits for the end of the response.
    if (!res.writableEnded) res.end();
    return null;
  },
};

function isGone(socket: Socket, res: ServerResponse): boolean {
  // `writableEnded` says the same, by a getter of a prototype: a long way from a response of Express.
  return socket.destroyed || finishedOf(res);
}

/** Whether the sender has reset the stream of HTTP/2 that the request came on. */
function isReset(req: IncomingMessage): boolean {
  const { stream } = req as unknown as Partial<Http2ServerRequest>;
  return stream !== undefined && (stream.aborted || stream.destroyed || stream.rstCode !== 0);
}
