import type { NextFunction } from 'express';

/** Runs an action and passes its error or rejection to the error handlers of Express. */
export function forwardErrors(next: NextFunction, action: () => unknown): void {
  try {
    const result = action();
    // Express 4 ignores what a middleware returns.
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        next(errorOf(error));
      });
    }
  } catch (error) {
    next(errorOf(error));
  }
}

/** Express treats `next(undefined)`, `next('route')` and `next('router')` as success, so these become errors. */
function errorOf(reason: unknown): unknown {
  const isError = typeof reason === 'object' && reason !== null;
  return isError ? reason : new Error('A callback threw a value that is not an error.', { cause: reason });
}
