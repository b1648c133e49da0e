import { type Clock, type Heaped, MinHeap } from '@webhook-backpressure/base';

export type { Clock } from '@webhook-backpressure/base';
export { checkHistory } from './history/check-history.ts';
export type { HistoryEvent, HistoryRule, HistoryViolation } from './history/history-event.ts';
export { type Observed, until } from './until.ts';

/** A clock that moves only when its methods are called. */
export interface ManualClock extends Clock {
  /**
   * Moves time forward by `ms` and fires all timers due until then, in order, each with `now()` at its due time.
   * Promises that timers settle run their reactions after `advance` returns.
   */
  advance(ms: number): void;
  /** Moves time to the next timer and fires it. Returns false without one. */
  advanceToNext(): boolean;
  /** Moves `now()` by `ms`, which may be negative, without firing timers. */
  jump(ms: number): void;
  /** The number of timers that have neither fired nor been cleared. */
  readonly pending: number;
}

interface Timer extends Heaped {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

/**
 * Creates a manual clock for deterministic tests and simulations.
 *
 * @param startMs - the first reading of `now()`, in milliseconds. Default: 0.
 */
export function manualClock(startMs = 0): ManualClock {
  // A heap, since a simulation has tens of thousands of concurrent timers, one for each sender about to retry.
  const timers = new MinHeap<Timer>(isBefore);
  let now = startMs;
  let order = 0;
  let pending = 0;

  const fireNext = (until: number): boolean => {
    for (;;) {
      const timer = timers.top;
      if (timer === undefined || (timer.callback !== undefined && timer.at > until)) return false;
      timers.pop();
      const { callback } = timer;
      if (callback === undefined) continue;
      timer.callback = undefined;
      pending -= 1;
      now = Math.max(now, timer.at);
      callback();
      return true;
    }
  };

  return {
    now: () => now,
    setTimeout(callback, ms) {
      const timer: Timer = { at: now + Math.max(0, ms), order: order++, callback, heapIndex: 0 };
      pending += 1;
      timers.push(timer);
      return timer;
    },
    clearTimeout(handle) {
      const timer = handle as Timer | undefined;
      if (timer?.callback === undefined) return;
      timer.callback = undefined;
      pending -= 1;
    },
    advance(ms) {
      const until = now + ms;
      while (fireNext(until));
      now = Math.max(now, until);
    },
    advanceToNext: () => fireNext(Infinity),
    jump(ms) {
      now += ms;
    },
    get pending() {
      return pending;
    },
  };
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
