import { type Clock, MinHeap, monotonic, Timer } from '@webhook-backpressure/base';
import type { Buckets } from '@webhook-backpressure/fleet';
import { Aborts } from './aborts.ts';
import { checked, type NamedApiLimit } from './api-limits.ts';
import { CallLine, type Lines } from './call-line.ts';

/** What all lines use. */
export interface CallLinesOptions {
  readonly buckets: Buckets;
  readonly maxWaitMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Lines without calls that are kept, because they know what their API accepts. */
const MAX_IDLE = 1000;

/** The lines by the names of their buckets, and one timer for all of them. */
export class CallLines implements Lines {
  readonly buckets: Buckets;
  readonly maxWaitMs: number;
  readonly random: () => number;
  readonly now: () => number;
  readonly aborts: Aborts = new Aborts();
  readonly #lines = new Map<string, CallLine>();
  /** The one that has been idle for longest is the first. */
  readonly #idle = new Set<CallLine>();
  readonly #heap = new MinHeap<CallLine>((a, b) => a.atMs < b.atMs);
  readonly #timer: Timer;
  #timerAtMs = Infinity;

  constructor({ buckets, maxWaitMs, clock, random }: CallLinesOptions) {
    this.buckets = buckets;
    this.maxWaitMs = maxWaitMs;
    this.random = random;
    this.now = monotonic(clock);
    this.#timer = new Timer(clock, this.#ring);
  }

  /** Lines in memory. */
  get size(): number {
    return this.#lines.size;
  }

  /**
   * The line of a call, until it is passed to `leave`.
   *
   * @throws BackpressureError if the limit is invalid.
   */
  join(given: NamedApiLimit): CallLine {
    let line = this.#lines.get(given.name);
    if (line === undefined) {
      line = new CallLine(this, given, checked(given));
      this.#lines.set(given.name, line);
    } else line.set(given);
    this.#idle.delete(line);
    line.calls += 1;
    return line;
  }

  /** The call has ended. */
  leave(line: CallLine): void {
    line.calls -= 1;
    this.release(line);
  }

  release(line: CallLine): void {
    if (!line.isIdle) return;
    this.#idle.add(line);
    const [oldest] = this.#idle;
    if (oldest === undefined || this.#idle.size <= MAX_IDLE) return;
    this.#idle.delete(oldest);
    this.#lines.delete(oldest.name);
    this.buckets.forget(oldest.name);
  }

  place(line: CallLine, atMs: number): void {
    if (line.atMs === atMs) return;
    if (line.atMs !== Infinity) this.#heap.remove(line);
    line.atMs = atMs;
    if (atMs !== Infinity) this.#heap.push(line);
    this.#setTimer();
  }

  readonly #ring = (): void => {
    this.#timerAtMs = Infinity;
    const nowMs = this.now();
    const due: CallLine[] = [];
    for (let { top } = this.#heap; top !== undefined && top.atMs <= nowMs; { top } = this.#heap) {
      this.#heap.pop();
      top.atMs = Infinity;
      due.push(top);
    }
    for (const line of due) line.serve(nowMs);
    this.#setTimer();
  };

  #setTimer(): void {
    const { top } = this.#heap;
    if (top === undefined) {
      // The process may end.
      this.#timer.clear();
      this.#timerAtMs = Infinity;
      return;
    }
    if (top.atMs >= this.#timerAtMs) return;
    const nowMs = this.now();
    this.#timerAtMs = top.atMs;
    this.#timer.clear();
    this.#timer.set(nowMs, Math.max(0, Math.ceil(top.atMs - nowMs)));
    // A caller awaits the call.
    this.#timer.hold();
  }
}
