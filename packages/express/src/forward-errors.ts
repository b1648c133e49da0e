import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** Makes a handler that passes what `handle` throws, or rejects with, to the error handlers of Express. */
export function forwardingErrors(
  handle: (req: Request, res: Response, next: NextFunction) => unknown,
): RequestHandler {
  return (req, res, next) => {
    try {
      const result = handle(req, res, next);
      // Express 4 ignores what a middleware returns.
      if (result instanceof Promise) forwardRejection(result, next);
    } catch (error) {
      next(errorOf(error));
    }
  };
}

function forwardRejection(result: Promise<unknown>, next: NextFunction): void {
  result.catch((error: unknown) => {
    next(errorOf(error));
  });
}

/** Express treats `next(undefined)`, `next('route')` and `next('router')` as success, so these become errors. */
function errorOf(reason: unknown): unknown {
  const isError = typeof reason === 'object' && reason !== null;
  return isError ? reason : new Error('A callback threw a value that is not an error.', { cause: reason });
}
