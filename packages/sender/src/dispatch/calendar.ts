import { MinHeap } from '@webhook-backpressure/base';
import type { Scheduler, Task } from '@webhook-backpressure/inbox/store';
import type { Destination } from './destination.ts';

/**
 * The endpoints with something to send, by the time of their next possible start. One timer for all: a timer or a queue for
 * each endpoint would cost memory and wake-ups for endpoints that wait for hours.
 */
export class Calendar {
  readonly #heap = new MinHeap<Destination>((a, b) => a.atMs < b.atMs);
  readonly #scheduler: Scheduler;
  readonly #task: Task;
  #ringsAtMs = Infinity;

  /** @param ring - called when an endpoint is due. */
  constructor(scheduler: Scheduler, ring: () => void) {
    this.#scheduler = scheduler;
    this.#task = scheduler.task(() => {
      this.#ringsAtMs = Infinity;
      ring();
    });
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Places an endpoint, or moves it. Infinity removes it. */
  set(destination: Destination, atMs: number): void {
    if (destination.heapIndex >= 0) {
      if (destination.atMs === atMs) return;
      this.#heap.remove(destination);
      destination.heapIndex = -1;
    }
    destination.atMs = atMs;
    if (atMs < Infinity) this.#heap.push(destination);
  }

  /** Removes and returns the first endpoint that is due, or undefined. */
  takeDue(nowMs: number): Destination | undefined {
    const { top } = this.#heap;
    if (top === undefined || top.atMs > nowMs) return undefined;
    this.#heap.pop();
    top.heapIndex = -1;
    top.atMs = Infinity;
    return top;
  }

  /** Sets the timer for the first endpoint. Call it after changes. */
  wind(): void {
    const { top } = this.#heap;
    if (top === undefined || top.atMs >= this.#ringsAtMs) return;
    this.#ringsAtMs = top.atMs;
    this.#task.set(Math.max(top.atMs, this.#scheduler.nowMs));
  }

  /** Returns no endpoint from now on. */
  end(): void {
    this.#task.clear();
    this.#heap.clear();
  }
}
