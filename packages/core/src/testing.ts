import type { Clock } from './clock.ts';

export type { Clock } from './clock.ts';

/** A clock that moves only when told to. */
export interface ManualClock extends Clock {
  /**
   * Moves time forward by `ms`, firing every timer that falls due on the way, in the order of its due time,
   * each with `now()` at that due time. Promises that timers settle run their reactions after `advance` returns.
   */
  advance(ms: number): void;
  /** Moves time to the next timer and fires it. Returns false when there is none. */
  advanceToNext(): boolean;
  /** Moves `now()` by `ms`, which may be negative, without firing anything: a clock that jumps. */
  jump(ms: number): void;
  /** Timers that are set and have neither fired nor been cleared. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

/**
 * Creates a manual clock for deterministic tests and simulations.
 *
 * @param startMs - the first reading of `now()`, in milliseconds. Default 0.
 */
export function manualClock(startMs = 0): ManualClock {
  const heap: Timer[] = [];
  let now = startMs;
  let order = 0;
  let pending = 0;

  const fireNext = (until: number): boolean => {
    for (;;) {
      const timer = heap[0];
      if (timer === undefined || (timer.callback !== undefined && timer.at > until)) return false;
      popTimer(heap);
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
      const timer: Timer = { at: now + Math.max(0, ms), order: order++, callback };
      pending += 1;
      pushTimer(heap, timer);
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

// A binary heap: a simulation keeps one timer for each sender that waits to retry, tens of thousands at once.
function pushTimer(heap: Timer[], timer: Timer): void {
  let child = heap.push(timer) - 1;
  while (child > 0) {
    const parent = (child - 1) >> 1;
    const above = heap[parent] as Timer;
    if (!isBefore(timer, above)) break;
    heap[child] = above;
    child = parent;
  }
  heap[child] = timer;
}

function popTimer(heap: Timer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let parent = 0;
  for (;;) {
    let child = parent * 2 + 1;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, heap[child] as Timer)) child += 1;
    const below = heap[child];
    if (below === undefined || !isBefore(below, last)) break;
    heap[parent] = below;
    parent = child;
  }
  heap[parent] = last;
}
