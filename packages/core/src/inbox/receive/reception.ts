import { NO_DEADLINE, type Timed } from '../../time/deadlines.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import type { BodyCollector } from './body-collector.ts';
import type { InboxAnswer } from '../inbox.ts';

/** A delivery that is being received: it is answered once, in time, whatever takes longer. */
export class Reception implements Timed<Reception> {
  readonly delivery: Delivery;
  readonly body: BodyCollector;
  /** Settles with the answer. */
  readonly answered: Promise<InboxAnswer | null>;
  #isOver = false;
  #isBeingStored = false;
  dueStep: number = NO_DEADLINE;
  duePrevious: Reception | null = null;
  dueNext: Reception | null = null;
  readonly #onEnd: () => void;
  #resolve: ((answer: InboxAnswer | null) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  /** @param onEnd - called once, when it is answered: whatever still runs for it has no place any more. */
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

  /** Its bytes count until it is stored, or not, whoever was answered: a store that hangs must not get ever more. */
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
