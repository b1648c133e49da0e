import type { NextFunction } from 'express';

/** Runs the action; what it throws, or rejects with, goes to the error path of Express. */
export function attempt(next: NextFunction, action: () => unknown): void {
  try {
    const result = action();
    // Express 4 does not look at what a middleware returns.
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        next(errorOf(error));
      });
    }
  } catch (error) {
    next(errorOf(error));
  }
}

/** Told anything but an error, Express would let the request pass: `undefined`, or the words that it knows itself. */
function errorOf(reason: unknown): unknown {
  const isError = typeof reason === 'object' && reason !== null;
  return isError ? reason : new Error('A callback failed without an error.', { cause: reason });
}
