import { MinHeap } from '@webhook-backpressure/base';
import type { Scheduler, Task } from '@webhook-backpressure/inbox/store';
import type { Destination } from './destinations.ts';

/** An endpoint that keeps up goes before those that don't, unless they have waited for longer than this. */
const HEAD_START_MS = 10_000;

/**
 * The endpoints with something to send, by the time of their next possible start. One timer for all: a timer or a queue for
 * each endpoint would cost memory and wake-ups for endpoints that wait for hours.
 */
export class Calendar {
  readonly #heap = new MinHeap<Destination>((a, b) => a.atMs < b.atMs);
  readonly #timer: Task;
  #timerAtMs = Infinity;

  /** @param wake - called when an endpoint is due. */
  constructor(scheduler: Scheduler, wake: () => void) {
    this.#timer = scheduler.task(() => {
      this.#timerAtMs = Infinity;
      wake();
    });
  }

  /** Enters an endpoint, or moves it to another time; Infinity: removes it. */
  place(destination: Destination, atMs: number, nowMs: number): void {
    // Thousands that hang or have a backlog may be due, and it would wait for all of them.
    const rank = atMs <= nowMs && destination.keepsUp ? atMs - HEAD_START_MS : atMs;
    if (destination.heapIndex >= 0 && destination.atMs !== rank) this.#remove(destination);
    if (rank === Infinity || destination.heapIndex >= 0) return;
    destination.atMs = rank;
    this.#heap.push(destination);
    if (atMs > nowMs) this.setTimer(nowMs);
  }

  /** Removes and returns the endpoints that are due, up to so many. */
  take(most: number, nowMs: number): Destination[] {
    const due: Destination[] = [];
    for (let { top } = this.#heap; due.length < most && top !== undefined; { top } = this.#heap) {
      if (top.atMs > nowMs) break;
      this.#remove(top);
      due.push(top);
    }
    return due;
  }

  setTimer(nowMs: number): void {
    const { top } = this.#heap;
    if (top === undefined || top.atMs >= this.#timerAtMs) return;
    this.#timerAtMs = top.atMs;
    this.#timer.set(Math.max(top.atMs, nowMs));
  }

  clear(): void {
    this.#timer.clear();
    this.#heap.clear();
  }

  #remove(destination: Destination): void {
    this.#heap.remove(destination);
    destination.heapIndex = -1;
    destination.atMs = Infinity;
  }
}
