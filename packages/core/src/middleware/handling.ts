import type { Signal } from '../base/abort.ts';
import { isThenable } from '../checks.ts';
import { keptIdOf, keyOf, type Delivery } from '../delivery/delivery.ts';
import type { Outcome } from '../delivery/events.ts';
import type { Admission, Permit } from '../delivery/admission.ts';
import type { Refusal } from '../delivery/refusal.ts';

/** What a handler finds about the delivery that it handles. */
export interface BackpressureInfo {
  /** The share of the queue that it counts against. */
  readonly key: string;
  /** The sender, if it was recognised. */
  readonly sender: string | undefined;
  /** The delivery id, if there is one. */
  readonly id: string | undefined;
  /** Milliseconds that it waited in the queue. */
  readonly waitedMs: number;
  /**
   * Aborted when the sender has hung up before its answer was complete, or when `maxHandlingMs` is over. Pass it to
   * `fetch` or to a database driver, so that nothing works for a sender that has gone. Made when it is first read.
   */
  readonly signal: Signal;
  /**
   * Holds the permit until the promise settles, for work that goes on after the answer. A promise that rejects makes
   * the delivery a failure in the totals, and the first one of an intake is reported as a warning. At most until
   * `maxHandlingMs` is over. Without effect once the permit has been released.
   */
  readonly waitUntil: (promise: PromiseLike<unknown>) => void;
}

/** Bits of what has not ended yet. */
const HANDLER = 1;
const RESPONSE = 2;
/** Each promise of `waitUntil` counts from here up. */
const PROMISE = 4;

/**
 * A delivery from its admission until nothing works for it any more. While it waits it can leave the queue. From its
 * start on its permit is held until the handler has ended, the response is over, and the promises of `waitUntil` have
 * settled, whichever is last: a handler goes on when its sender hangs up, and a permit that ended with the connection
 * let in another delivery beside it, so that ten impatient senders had a hundred handlers running at concurrency 2.
 *
 * It is what the handler finds as `backpressure`: one object less for each delivery.
 */
export class Handling implements BackpressureInfo {
  // Its own properties are what a log of it shows.
  readonly key: string;
  readonly sender: string | undefined;
  readonly id: string | undefined;
  waitedMs = 0;
  #place: Admission | undefined;
  #permit: Permit | undefined;
  #held = HANDLER | RESPONSE;
  #outcome: Outcome = 'success';
  #isFollowed = false;
  #onOver: (() => void) | undefined;
  readonly #onFailedWork: (error: unknown) => void;

  /** @param onFailedWork - told of each promise of `waitUntil` that rejects. */
  constructor(delivery: Delivery, place: Admission, onFailedWork: (error: unknown) => void) {
    this.key = keyOf(delivery);
    this.sender = delivery.profile?.name;
    this.id = keptIdOf(delivery);
    this.#place = place;
    this.#onFailedWork = onFailedWork;
  }

  // eslint-disable-next-line @typescript-eslint/class-literal-property-style -- a field would show in logs
  get admitted(): true {
    return true;
  }

  /** Whether it will be told when the handler has ended. Otherwise that shows in the response. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  /** Whether the response is over. */
  get isAnswered(): boolean {
    return (this.#held & RESPONSE) === 0;
  }

  get signal(): Signal {
    // Only who has been given a permit is given this object.
    return (this.#permit as Permit).signal;
  }

  get waitUntil(): (promise: PromiseLike<unknown>) => void {
    // Bound when it is asked for, so that it can be taken out of its object.
    return (promise) => {
      this.#holdUntil(promise);
    };
  }

  /** Takes the permit if it is there. False: it has to be waited for. */
  tryStart(): boolean {
    const permit = this.#place?.permit;
    if (permit === undefined || permit instanceof Promise) return false;
    this.#permit = permit;
    this.waitedMs = permit.waitedMs;
    return true;
  }

  /**
   * Waits for the permit and takes it.
   *
   * @param isGone - a last look before the handler runs: whether the sender has left.
   * @returns true: the handler may run. False: it must not, and nothing is left to do. Or why it was refused.
   */
  async start(isGone: () => boolean): Promise<boolean | Refusal> {
    const result = await this.#place?.permit;
    if (result?.admitted === true) return this.#take(result, isGone);
    const isAnswered = this.isAnswered;
    this.#finish();
    return isAnswered || result === undefined ? false : result;
  }

  /** The handler has ended. Only the first call counts. */
  endHandler(outcome: Outcome = 'success'): void {
    if ((this.#held & HANDLER) !== 0) this.#end(HANDLER, outcome);
  }

  /** Calls back once, when nothing works for the delivery any more, whether it has run or not. */
  whenOver(callback: () => void): void {
    this.#onOver = callback;
  }

  /** The handler is not going to run, although it has a worker. */
  giveUp(): void {
    if (this.#permit !== undefined) breakOff(this.#permit);
    this.endHandler('failure');
  }

  /** The caller knows when the handler has ended, and will call `endHandler`. */
  willEnd(): void {
    this.#isFollowed = true;
  }

  /** The handler has been called: what it returned says when it ends, if that is a promise. */
  follow(returned: unknown): void {
    if (!isThenable(returned)) return;
    this.#isFollowed = true;
    Promise.resolve(returned).then(
      () => {
        this.endHandler();
      },
      () => {
        this.endHandler('failure');
      },
    );
  }

  /** The response has been sent in full. Only the first end of the response counts. */
  endResponse(outcome: Outcome): void {
    if ((this.#held & RESPONSE) !== 0) this.#end(RESPONSE, outcome);
  }

  /** The sender has gone before it had its answer: out of the queue; or the handler is told, and ends when it does. */
  cutOff(): void {
    if (this.isAnswered) return;
    if (this.#permit === undefined) this.#place?.leave();
    else this.#permit.abort();
    this.#end(RESPONSE, 'failure');
  }

  #take(permit: Permit, isGone: () => boolean): boolean {
    this.#permit = permit;
    this.waitedMs = permit.waitedMs;
    if (!this.isAnswered && !isGone()) return true;
    breakOff(permit);
    permit.release('failure');
    this.#finish();
    return false;
  }

  #holdUntil(promise: PromiseLike<unknown>): void {
    if (this.#held === 0) return;
    this.#held += PROMISE;
    // What is no promise has settled, and one whose `then` throws has failed.
    Promise.resolve(promise).then(
      () => {
        this.#end(PROMISE, 'success');
      },
      (error: unknown) => {
        this.#end(PROMISE, 'failure');
        this.#onFailedWork(error);
      },
    );
  }

  #end(what: number, outcome: Outcome): void {
    this.#held -= what;
    if (outcome === 'failure') this.#outcome = outcome;
    if (this.#held !== 0) return;
    this.#permit?.release(this.#outcome);
    this.#finish();
  }

  #finish(): void {
    this.#held = 0;
    this.#place = undefined;
    this.#onOver?.();
  }
}

/** So that the time for which the worker was held is not taken for a handling time. */
function breakOff(permit: Permit): void {
  if (!permit.signal.aborted) permit.abort();
}
