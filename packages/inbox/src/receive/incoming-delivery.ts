import { NO_DEADLINE, type Timed } from '@webhook-backpressure/base';
import type { Delivery } from '@webhook-backpressure/core';
import type { BodyCollector } from './body-collector.ts';
import type { InboxAnswer } from './inbox-answers.ts';

/** A delivery that is being received. It is answered once, and in time even if receiving it takes longer. */
export class IncomingDelivery implements Timed<IncomingDelivery> {
  readonly delivery: Delivery;
  readonly body: BodyCollector;
  /** Resolves with the answer. */
  readonly answered: Promise<InboxAnswer | null>;
  #isOver = false;
  #isBeingStored = false;
  dueStep: number = NO_DEADLINE;
  duePrevious: IncomingDelivery | null = null;
  dueNext: IncomingDelivery | null = null;
  readonly #onEnd: () => void;
  #resolve: ((answer: InboxAnswer | null) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  /** @param onEnd - called once, when it is answered. */
  constructor(delivery: Delivery, body: BodyCollector, onEnd: () => void) {
    this.delivery = delivery;
    this.body = body;
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

  /** From here on its bytes count until the store returns, even after the answer: a store that hangs must not get ever more. */
  beginStoring(): void {
    this.#isBeingStored = true;
  }

  endStoring(): void {
    this.#isBeingStored = false;
    if (this.#isOver) this.body.close();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#isBeingStored) this.body.close();
    this.#onEnd();
  }
}
