import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** Makes a handler that passes what `handle` throws, or rejects with, to the error path of Express. */
export function passingFailures(
  handle: (req: Request, res: Response, next: NextFunction) => unknown,
): RequestHandler {
  return (req, res, next) => {
    try {
      const result = handle(req, res, next);
      // Express 4 ignores what a middleware returns.
      if (result instanceof Promise) passLater(result, next);
    } catch (error) {
      next(errorOf(error));
    }
  };
}

function passLater(result: Promise<unknown>, next: NextFunction): void {
  result.catch((error: unknown) => {
    next(errorOf(error));
  });
}

/** Express takes `undefined` and the strings `route` and `router` for no error, and would let the request pass. */
function errorOf(reason: unknown): unknown {
  const isError = typeof reason === 'object' && reason !== null;
  return isError ? reason : new Error('A callback failed without an error.', { cause: reason });
}
