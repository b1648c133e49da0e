import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  BODY_TIMED_OUT,
  type Delivery,
  type Door,
  type Handling,
  type Refusal,
} from '@webhook-backpressure/core';
import { BodyArrivals, hasArrived, type BodyArrival } from './body-arrival.ts';
import { isItsTurn, itsTurn } from './connection-turn.ts';
import { endOfTurn } from './end-of-turn.ts';
import { bind } from './lease.ts';
import { look } from './look.ts';
import { writeRefusal } from './refuse.ts';
import { SlowReaders } from './slow-readers.ts';

/** A request that may run, one that is refused, or, as null, one whose sender has gone or has been answered. */
export type Verdict = Handling | Refusal | null;

/** So many deliveries are looked at to find out whether a parser has read their bodies before. */
const LOOKED_AT = 1000;

/**
 * Takes requests through a door, and binds each permit to the life of the response and of the handler. A request with a
 * body knocks when the body has arrived, a pipelined one when its turn on the connection has come: a place in the queue,
 * and a worker, are for deliveries that can be handled. A sender that goes while its delivery waits leaves the queue.
 */
export class Entrance<R> {
  readonly #door: Door<R>;
  readonly #bodies: BodyArrivals;
  readonly #readers: SlowReaders;
  readonly #answerLate: (req: IncomingMessage, res: ServerResponse) => void;
  #looksLeft = LOOKED_AT;

  /** @param answerLate - answers a request whose body did not come in time. By default it is answered here. */
  constructor(door: Door<R>, answerLate: (req: IncomingMessage, res: ServerResponse) => void = sendTimedOut) {
    this.#door = door;
    this.#answerLate = answerLate;
    this.#bodies = new BodyArrivals(door.bodyTimeoutMs);
    this.#readers = new SlowReaders(door.bodyTimeoutMs);
  }

  /**
   * @param request - what the framework calls the request.
   * @param askForBody - where the sender waits to be asked for its body.
   * @returns immediately, unless there is something to wait for.
   */
  enter(
    request: R,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody?: () => void,
  ): Verdict | Promise<Verdict> {
    const socket = look(req, 'socket');
    if (isGone(socket, res)) return null;
    const delivery = this.#door.read(request);
    if (this.#looksLeft > 0) this.#lookAtBody(req);
    if (hasArrived(req) && isItsTurn(socket, res)) return this.#admit(delivery, req, res, 0, askForBody);
    return this.#enterWhenReady(delivery, req, res, askForBody);
  }

  async #enterWhenReady(
    delivery: Delivery,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody: (() => void) | undefined,
  ): Promise<Verdict> {
    const since = performance.now();
    if (!isItsTurn(req.socket, res) && !(await itsTurn(req.socket, res))) return null;
    await endOfTurn();
    if (isGone(req.socket, res)) return null;
    // One that would be refused is refused with its body unread.
    if (!hasArrived(req) && this.#door.accepts(delivery)) {
      askForBody?.();
      const arrival = await this.#bodies.untilBuffered(req);
      if (arrival !== 'here') return this.#leave(arrival, req, res);
      if (isGone(req.socket, res)) return null;
    }
    return this.#admit(delivery, req, res, performance.now() - since, askForBody);
  }

  #admit(
    delivery: Delivery,
    req: IncomingMessage,
    res: ServerResponse,
    ageMs: number,
    askForBody: (() => void) | undefined,
  ): Verdict | Promise<Verdict> {
    const handling = this.#door.admit(delivery, ageMs);
    if (!handling.admitted) return handling;

    bind(handling, look(req, 'socket'), res, this.#readers);
    if (handling.tryStart()) return this.#begin(handling, req, res, askForBody);
    if (req.backpressure !== undefined) this.#warnOfNesting();
    return handling
      .start(() => isGone(req.socket, res))
      .then((result) => (result === true ? this.#begin(handling, req, res, askForBody) : result || null));
  }

  #lookAtBody(req: IncomingMessage): void {
    this.#looksLeft -= 1;
    if (!req.readableDidRead) return;
    this.#looksLeft = 0;
    this.#door.warnOnce(
      'WBP_BODY_READ',
      'A body parser has read the body before the delivery reached its intake. Waiting deliveries hold their bodies in ' +
        'memory then, and refused ones have been parsed for nothing. Mount the middleware before the parser.',
    );
  }

  #warnOfNesting(): void {
    this.#door.warnOnce(
      'WBP_NESTED',
      'A delivery that holds a worker of one intake waits for a worker of another one, and nobody can use the first ' +
        'meanwhile. Give both places the same intake, by the option `intake`.',
    );
  }

  /** It has its worker: now the rest of a large body is read on. */
  #begin(
    handling: Handling,
    req: IncomingMessage,
    res: ServerResponse,
    askForBody: (() => void) | undefined,
  ): Verdict | Promise<Verdict> {
    if (hasArrived(req)) return handling;
    askForBody?.();
    return this.#bodies.readAhead(req).then((arrival) => {
      if (arrival === 'here' && !isGone(req.socket, res)) return handling;
      handling.giveUp();
      return this.#leave(arrival, req, res);
    });
  }

  #leave(arrival: BodyArrival, req: IncomingMessage, res: ServerResponse): null {
    if (arrival === 'late') this.#answerLate(req, res);
    return null;
  }
}

function sendTimedOut(req: IncomingMessage, res: ServerResponse): void {
  writeRefusal(req, res, BODY_TIMED_OUT);
}

function isGone(socket: Socket, res: ServerResponse): boolean {
  // `writableEnded` says the same, by a getter of a prototype: a long way from a response of Express.
  return socket.destroyed || look(res, 'finished');
}
