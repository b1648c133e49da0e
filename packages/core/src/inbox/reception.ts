import { NO_DEADLINE, type Timed } from '../deadlines.ts';
import type { Delivery } from '../delivery.ts';
import type { BodyCollector } from './body-collector.ts';
import type { InboxAnswer } from './inbox.ts';

/** A delivery that is being received: it is answered once, in time, whatever takes longer. */
export class Reception implements Timed<Reception> {
  readonly delivery: Delivery;
  readonly body: BodyCollector;
  /** Settles with the answer. */
  readonly answered: Promise<InboxAnswer | null>;
  isOver = false;
  dueStep: number = NO_DEADLINE;
  duePrevious: Reception | null = null;
  dueNext: Reception | null = null;
  #resolve: ((answer: InboxAnswer | null) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(delivery: Delivery, body: BodyCollector) {
    this.delivery = delivery;
    this.body = body;
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

  #end(): void {
    this.isOver = true;
    this.body.close();
  }
}
