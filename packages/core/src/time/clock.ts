import { boundToThisContext } from '../base/async-context.ts';

declare const performance: { now(): number };
declare function setTimeout(callback: () => void, ms: number): unknown;
declare function clearTimeout(handle: unknown): void;

/**
 * The source of time. Everything in this package that depends on time reads it here, so that a test or a
 * simulation can run hours in milliseconds with the manual clock of `@webhook-backpressure/core/testing`.
 */
export interface Clock {
  /** Milliseconds, monotonic. A reading below the last one counts as no time having passed since then. */
  now(): number;
  /**
   * Calls back once, after `ms` milliseconds or a little later. Where the handle that it returns has a method `ref`,
   * as a timer of Node, that is called while deliveries wait, so that the process does not end before they are served.
   */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Forgets a timer; a handle that has fired already does no harm. */
  clearTimeout(handle: unknown): void;
}

/** A timer that is set in a request, again and again, would keep the async context of that request alive. */
const setOutside = boundToThisContext((set: () => unknown) => set());

/**
 * The runtime's own monotonic clock. Its timers do not keep a Node process alive, unless {@link holdTimer} says so.
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
 * Makes a timer keep the process alive, where the handle of its clock can: one of Node has `ref`. Without it a process
 * that awaits nothing but this timer would end with code 13.
 */
export function holdTimer(handle: unknown): void {
  (handle as { ref?: () => void } | undefined)?.ref?.();
}

/**
 * The clock's readings, made monotonic. A clock that went back would turn waits negative. To wait for it to catch
 * up would stop every deadline and every paced start, so time goes on from where it was.
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
