import { boundToThisContext } from '../async-context.ts';
import { isRecord } from '../checks.ts';
import { invalid } from '../errors.ts';

declare const performance: { now(): number };
declare function setTimeout(callback: () => void, ms: number): unknown;
declare function clearTimeout(handle: unknown): void;

/**
 * The source of time for everything in this package. With the manual clock of
 * `@webhook-backpressure/core/testing`, a test or a simulation runs hours in milliseconds.
 */
export interface Clock {
  /** Milliseconds, monotonic. If a reading is below the previous one, no time has passed between the two. */
  now(): number;
  /**
   * Calls `callback` once, after `ms` milliseconds or slightly later. If the returned handle has a method `ref`, as
   * Node's timers do, `ref` is called while deliveries are queued, so that the process does not exit before they run.
   */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Cancels a timer. Does nothing if the timer has fired. */
  clearTimeout(handle: unknown): void;
}

/** Set inside a request, a timer that renews itself would keep the async context of that request alive. */
const setOutside = boundToThisContext((set: () => unknown) => set());

/**
 * The runtime's monotonic clock. Its timers do not keep a Node process alive, unless `ref` is called on their handles.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout(callback, ms) {
    const handle = setOutside(() => setTimeout(callback, ms));
    (handle as { unref?: () => void }).unref?.();
    return handle;
  },
  clearTimeout: (handle) => {
    clearTimeout(handle);
  },
};

/**
 * Makes a timer keep the process alive, if its handle has `ref`, as in Node. Otherwise a process that awaits only this
 * timer would exit with code 13.
 */
export function holdTimer(handle: unknown): void {
  (handle as { ref?: () => void } | undefined)?.ref?.();
}

/**
 * Makes the clock's readings monotonic. A clock that jumps back would make waits negative, and waiting for it to
 * catch up would stop every deadline and every paced start. So time continues from the last reading.
 */
export function monotonic(clock: Clock): () => number {
  let lastMs = -Infinity;
  let aheadMs = 0;
  return () => {
    const readingMs = clock.now();
    if (readingMs < lastMs) aheadMs += lastMs - readingMs;
    lastMs = readingMs;
    return readingMs + aheadMs;
  };
}

/** @throws BackpressureError `ERR_WBP_CLOCK` if something is no clock. */
export function checkClock(clock: unknown): void {
  if (isRecord(clock) && FUNCTIONS.every((name) => typeof clock[name] === 'function')) return;
  throw invalid(
    'ERR_WBP_CLOCK',
    'clock',
    'an object with the functions now, setTimeout and clearTimeout',
    clock,
  );
}

const FUNCTIONS = ['now', 'setTimeout', 'clearTimeout'];
