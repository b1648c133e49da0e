import type { Delivery } from '@webhook-backpressure/core';
import { NO_DEADLINE, type Timed } from '@webhook-backpressure/base';
import type { InboxAnswer } from './inbox-answers.ts';
import type { BodySink } from './inbox-request.ts';

/** The memory of all bodies that are being received, which hold it until they are committed. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** When the budget is used up, a body that is still incomplete after this time may be cut off. */
const QUICK_MS = 250;
/** Overhead of a chunk: in chunks of one byte a body takes hundreds of times its size. */
const BYTES_PER_CHUNK = 256;
/** With this factor the largest body fits the budget alone, if its chunks have 1 KiB or more. */
const CHUNKED = 1 + BYTES_PER_CHUNK / 1024;
/**
 * How many deliveries wait at most for the store. Each holds a connection and a few kilobytes. It is far more than an
 * instance of a function receives during a cold start; a server that receives more needs a readiness probe.
 */
const MAX_WAITING = 1000;

/**
 * Bounds the memory of all bodies. When the budget is used up, the oldest incomplete body is cut off if it is older than
 * 250 ms, so that slow senders cannot lock out others. If none is, the new body is refused: otherwise each body would
 * be cut off by the next, and none would complete.
 */
export class BodyBudget {
  used = 0;
  /** The incomplete bodies, in the order of their first bytes. */
  readonly incomplete: Set<IncomingDelivery> = new Set<IncomingDelivery>();
  readonly #maxBodyBytes: () => number;
  readonly #now: () => number;
  readonly #cutOff: (incoming: IncomingDelivery) => void;

  /**
   * @param maxBodyBytes - the largest body, which must fit at least alone.
   * @param cutOff - answers a delivery whose body is cut off.
   */
  constructor(maxBodyBytes: () => number, now: () => number, cutOff: (incoming: IncomingDelivery) => void) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#now = now;
    this.#cutOff = cutOff;
  }

  /** Reserves memory for more bytes of a body. Returns false when there is none. */
  take(incoming: IncomingDelivery, bytes: number): boolean {
    const nowMs = this.#now();
    const most = Math.max(BUDGET_BYTES, this.#maxBodyBytes() * CHUNKED);
    while (this.used + bytes > most) {
      const [oldest] = this.incomplete;
      if (oldest === undefined || oldest === incoming || nowMs - oldest.beganMs < QUICK_MS) return false;
      oldest.close();
      this.#cutOff(oldest);
    }
    this.used += bytes;
    if (incoming.taken === 0) {
      incoming.beganMs = nowMs;
      this.incomplete.add(incoming);
    }
    incoming.taken += bytes;
    return true;
  }
}

/**
 * A delivery that is being received, and its body. It is answered once, and in time even if receiving it takes longer.
 */
export class IncomingDelivery implements Timed<IncomingDelivery>, BodySink {
  readonly delivery: Delivery;
  /** Resolves with the answer. */
  readonly answered: Promise<InboxAnswer | null>;
  /** Why no more bytes are wanted, if so. */
  trouble: 'too-large' | 'overloaded' | undefined;
  /** Memory that the budget has reserved for the body. */
  taken = 0;
  /** When its first bytes arrived. */
  beganMs = 0;
  dueStep: number = NO_DEADLINE;
  duePrevious: IncomingDelivery | null = null;
  dueNext: IncomingDelivery | null = null;
  readonly #budget: BodyBudget;
  readonly #maxBytes: number;
  readonly #onEnd: () => void;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #isOver = false;
  #isBeingStored = false;
  #isClosed = false;
  #resolve: ((answer: InboxAnswer | null) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  /** @param onEnd - called once, when it is answered. */
  constructor(delivery: Delivery, budget: BodyBudget, maxBytes: number, onEnd: () => void) {
    this.delivery = delivery;
    this.#budget = budget;
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  answer(answer: InboxAnswer | null): void {
    this.#end();
    this.#resolve?.(answer);
  }

  fail(error: unknown): void {
    this.#end();
    this.#reject?.(error);
  }

  isOver(): boolean {
    return this.#isOver;
  }

  /** Adds the next bytes. Returns false when no more are wanted: the reader stops. */
  add(chunk: Uint8Array): boolean {
    if (this.#isClosed || this.trouble !== undefined) return false;
    if (this.#size + chunk.byteLength > this.#maxBytes) this.trouble = 'too-large';
    else if (!this.#budget.take(this, chunk.byteLength + BYTES_PER_CHUNK)) this.trouble = 'overloaded';
    if (this.trouble !== undefined) return false;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    return true;
  }

  /** The whole body, copied: a chunk may be a small part of a large buffer. It is not cut off any more. */
  body(): Uint8Array {
    this.#budget.incomplete.delete(this);
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks.splice(0)) {
      whole.set(chunk, at);
      at += chunk.byteLength;
    }
    return whole;
  }

  /**
   * While it is being stored its bytes count, even after the answer: a store that hangs must not get ever more.
   *
   * @param isBeingStored - until the store returns.
   */
  storing(isBeingStored: boolean): void {
    this.#isBeingStored = isBeingStored;
    if (this.#isOver && !isBeingStored) this.close();
  }

  /** Releases the memory of the body and accepts no more bytes. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#chunks.length = 0;
    this.#budget.incomplete.delete(this);
    this.#budget.used -= this.taken;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#isBeingStored) this.close();
    this.#onEnd();
  }
}

/**
 * Deliveries that wait, with their bodies unread, while the store is opened for the first time. Where no readiness probe
 * keeps them away, the first one after a cold start would be refused otherwise, and lost if its sender never retries.
 */
export class StartQueue {
  readonly #waiting = new Map<IncomingDelivery, () => void>();
  #hasEnded = false;

  /** Whether a delivery that arrives now waits. */
  get isOpen(): boolean {
    return !this.#hasEnded && this.#waiting.size < MAX_WAITING;
  }

  /** Resolves when the wait has ended, in the order of the calls. */
  wait(incoming: IncomingDelivery): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(incoming, resolve);
    });
  }

  /** The delivery has been answered. */
  leave(incoming: IncomingDelivery): void {
    this.#waiting.get(incoming)?.();
    this.#waiting.delete(incoming);
  }

  /** Lets all deliveries go on, and no others wait: the store is open, it could not be opened, or the inbox closes. */
  end(): void {
    this.#hasEnded = true;
    for (const goOn of this.#waiting.values()) goOn();
    this.#waiting.clear();
  }
}
