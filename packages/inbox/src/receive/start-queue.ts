import type { IncomingDelivery } from './incoming-delivery.ts';

/**
 * How many deliveries wait at most. Each holds a connection and a few kilobytes. It is far more than an instance of a
 * function receives during a cold start; a server that receives more needs a readiness probe.
 */
const MOST_WAITING = 1000;

/**
 * Deliveries that wait, with their bodies unread, while the store is opened for the first time. Where no readiness probe
 * keeps them away, the first one after a cold start would be refused otherwise, and lost if its sender never retries.
 */
export class StartQueue {
  readonly #waiting = new Map<IncomingDelivery, () => void>();
  #hasEnded = false;

  /** Whether a delivery that arrives now waits. */
  get isOpen(): boolean {
    return !this.#hasEnded && this.#waiting.size < MOST_WAITING;
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
