declare const setImmediate: ((callback: () => void) => unknown) | undefined;

/**
 * Resolves after the pending I/O events of this turn of the event loop; where `setImmediate` is missing, in the next
 * microtask.
 */
export function nextTurn(): Promise<void> {
  if (typeof setImmediate !== 'function') return Promise.resolve();
  const schedule = setImmediate;
  return new Promise((resolve) => {
    schedule(resolve);
  });
}
