import { isThenable, type Signal } from '@webhook-backpressure/base';
import { keptIdOf, keyOf, type Delivery } from '../delivery/delivery.ts';
import type { Outcome } from '../delivery/events.ts';
import type { Admission, Permit } from '../delivery/admission.ts';
import type { Refusal } from '../delivery/refusal.ts';
import { whenRevoked } from '../workers/admitted-delivery.ts';

/** What a handler knows about the delivery that it handles. */
export interface BackpressureInfo {
  /** The share of the queue that the delivery counts against. */
  readonly key: string;
  /** The sender, if it was recognized. */
  readonly sender: string | undefined;
  /** The delivery id, if the request has one. */
  readonly id: string | undefined;
  /** Milliseconds that the delivery was queued. */
  readonly waitedMs: number;
  /**
   * Aborted if the sender hangs up before the answer is complete, or after `maxHandlingMs`. Pass it to `fetch` or to a
   * database driver, so that no work is done for a sender that has gone. Created when it is first read.
   */
  readonly signal: Signal;
  /**
   * Holds the permit until the promise settles, for work that goes on after the answer, for at most `maxHandlingMs`. If
   * the promise rejects, the delivery counts as failed, and the first rejection is reported as a warning. Has no effect
   * once the permit has been released.
   */
  readonly waitUntil: (promise: PromiseLike<unknown>) => void;
}

/** The signal of a web-standard request, aborted when its sender disconnects. */
export interface Departure {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The bits of what has not ended yet. */
const HANDLER = 1;
const RESPONSE = 2;
/** Each promise of `waitUntil` adds this. */
const PROMISE = 4;

/**
 * A delivery from its admission until no more work is done for it. From its start, its permit is held until the handler
 * has ended, the response is over, and the promises of `waitUntil` have settled. A handler goes on when its sender hangs
 * up: when the permit ended with the connection, ten senders with short timeouts had a hundred handlers running at
 * concurrency 2.
 *
 * The same object is what the handler sees as `backpressure`, which saves an object for each delivery.
 */
export class Handling implements BackpressureInfo {
  // A log of the object shows these properties.
  /** The key that the delivery counts against. */
  readonly key: string;
  /** The name of the identified sender, or undefined. */
  readonly sender: string | undefined;
  /** The delivery id, or undefined if there is none. */
  readonly id: string | undefined;
  /** How long it waited in the queue, in milliseconds. 0 until it starts. */
  waitedMs = 0;
  #place: Admission | undefined;
  #permit: Permit | undefined;
  #held = HANDLER | RESPONSE;
  #outcome: Outcome = 'success';
  #isFollowed = false;
  #isHeld = false;
  #onOver: (() => void) | undefined;
  #departure: Departure | null | undefined;
  #onDeparture: (() => void) | undefined;
  readonly #onFailedWork: (error: unknown) => void;

  /** @param onFailedWork - called when a promise of `waitUntil` rejects. */
  constructor(delivery: Delivery, place: Admission, onFailedWork: (error: unknown) => void) {
    this.key = keyOf(delivery);
    this.sender = delivery.profile?.name;
    this.id = keptIdOf(delivery);
    this.#place = place;
    this.#onFailedWork = onFailedWork;
  }

  /** Tells a handling from a {@link Refusal}. */
  // eslint-disable-next-line @typescript-eslint/class-literal-property-style -- a field would show in logs
  get admitted(): true {
    return true;
  }

  /** Whether the end of the handler is reported. Otherwise it shows in the response. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  /** Whether the response is over. */
  get isAnswered(): boolean {
    return (this.#held & RESPONSE) === 0;
  }

  /** Whether it still waits for its permit. */
  get isQueued(): boolean {
    return this.#permit === undefined && this.#held !== 0;
  }

  /** Whether the handler that was called last returned a promise: see {@link hold}. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  set isHeld(isHeld: boolean) {
    this.#isHeld = isHeld;
  }

  /** Whether the handler has ended, and with it the response and the promises of `waitUntil`. */
  get isOver(): boolean {
    return this.#held === 0;
  }

  /** Aborted when the sender has disconnected or `maxHandlingMs` is over. */
  get signal(): Signal {
    this.watchDeparture();
    // A handler sees this object only once there is a permit.
    return (this.#permit as Permit).signal;
  }

  /** Holds the permit until a promise settles. */
  get waitUntil(): (promise: PromiseLike<unknown>) => void {
    // Bound, so that it can be destructured.
    return (promise) => {
      this.#holdUntil(promise);
    };
  }

  /** Takes the permit if there is one already. If it returns false, call `start`. */
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
   * @param isGone - whether the sender has gone; checked last, before the handler runs.
   * @returns true if the handler may run, false if it must not and nothing is left to do, or the refusal.
   */
  async start(isGone: () => boolean): Promise<boolean | Refusal> {
    this.watchDeparture();
    const result = await this.#place?.permit;
    if (result?.admitted === true) return this.#take(result, isGone);
    const isAnswered = this.isAnswered;
    this.#finish();
    return isAnswered || result === undefined ? false : result;
  }

  /** The handler has ended. Only the first call counts. */
  endHandler(outcome: Outcome = 'success'): void {
    if ((this.#held & HANDLER) === 0) return;
    if (this.#departure?.aborted === true) this.cutOff();
    this.#end(HANDLER, outcome);
  }

  /** Notes the signal of the request, which is looked at when the handler ends: to listen to each costs 0.5 µs. */
  departsBy(departure: Departure | null | undefined): void {
    this.#departure = departure;
  }

  /** Calls {@link cutOff} when the sender disconnects: while queued, once a handler has read `signal`, and while streaming. */
  watchDeparture(): void {
    const departure = this.#departure;
    if (!departure || this.#onDeparture !== undefined || this.#held === 0) return;
    if (departure.aborted) {
      this.cutOff();
      return;
    }
    this.#onDeparture = () => {
      this.cutOff();
    };
    departure.addEventListener('abort', this.#onDeparture);
  }

  /** Calls back once, when no more work is done for the delivery, whether it has started or not. */
  whenOver(callback: () => void): void {
    this.#onOver = callback;
  }

  /** Calls back if `maxHandlingMs` is over: the worker is free although the handler has not ended. */
  whenRevoked(callback: () => void): void {
    if (this.#place !== undefined) whenRevoked(this.#place, callback);
  }

  /** The handler will not run, or will not report its end, although the delivery has a worker. */
  giveUp(): void {
    if (this.#permit !== undefined) breakOff(this.#permit);
    this.endHandler('failure');
  }

  /** The caller will call `endHandler` when the handler has ended. */
  willEnd(): void {
    this.#isFollowed = true;
  }

  /** The handler has been called: if it returned a promise, it ends when that settles. */
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

  /**
   * Holds the permit until a promise of a handler settles, also after the response. Unlike `follow`, its end is not the
   * end of the handler, which may answer from a callback.
   *
   * @returns a promise that settles alike, for the framework: an unhandled rejection is still reported as such.
   */
  async hold(returned: PromiseLike<unknown>): Promise<unknown> {
    if (this.#held === 0) return returned;
    this.#held += PROMISE;
    try {
      return await returned;
    } finally {
      // The response shows whether it failed.
      this.#end(PROMISE, 'success');
    }
  }

  /**
   * The response has been sent in full. Only the first end of the response counts. A queued delivery that something else
   * has answered, such as a timeout, leaves the queue.
   */
  endResponse(outcome: Outcome): void {
    if (this.isAnswered) return;
    if (this.#permit === undefined) this.#place?.leave();
    this.#end(RESPONSE, outcome);
  }

  /** The sender has gone before the end of the answer: the delivery leaves the queue, or its signal is aborted. */
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
    // Accepts other values as well; a `then` that throws is a failure.
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
    // One that was answered while it was queued has ended before its refusal settles.
    if (this.#place === undefined) return;
    this.#place = undefined;
    if (this.#onDeparture !== undefined) this.#departure?.removeEventListener('abort', this.#onDeparture);
    this.#onOver?.();
  }
}

/** Keeps the time for which the worker was held out of the measured handling times. */
function breakOff(permit: Permit): void {
  if (!permit.signal.aborted) permit.abort();
}
