declare const setImmediate: ((callback: () => void) => unknown) | undefined;

/**
 * Resolves when what has arrived at the process by now has been looked at: on Node, Bun and Deno after the events of
 * this turn of the loop, elsewhere after what is settled already. It waits for nothing.
 */
export function nextTurn(): Promise<void> {
  if (typeof setImmediate !== 'function') return Promise.resolve();
  const soon = setImmediate;
  return new Promise((resolve) => {
    soon(resolve);
  });
}
