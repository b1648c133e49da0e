/**
 * The promise, or a rejection as soon as the signal is aborted. Each call has its own listener: a promise for all calls would
 * keep every event in memory until it settles.
 */
export function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', end);
    });
  });
}
