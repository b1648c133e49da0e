import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** Makes a handler that passes what `handle` throws, or rejects with, to the error handlers of Express. */
export function forwardingErrors(
  handle: (req: Request, res: Response, next: NextFunction) => unknown,
): RequestHandler {
  return (req, res, next) => {
    try {
      const result = handle(req, res, next);
      // Express 4 ignores what a middleware returns.
      if (result instanceof Promise) result.catch(next);
    } catch (error) {
      next(error);
    }
  };
}
