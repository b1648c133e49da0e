import { createAdmissionControl, readableErrors, type Skip } from '@webhook-backpressure/core/middleware';
import type { BackpressureInfo, Intake, MiddlewareOptions } from '@webhook-backpressure/core';
import {
  boundBody,
  nodeReader,
  RequestAdmission,
  setHeaders,
  type Verdict,
  writeRefusal,
} from '@webhook-backpressure/node/request';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { followHandlers } from './follow-handlers.ts';
import { forwardingErrors } from './forward-errors.ts';
import { isForWholeApp } from './router-stack.ts';

declare global {
  // Express merges what its middleware adds to a request from this namespace.
  namespace Express {
    interface Request {
      /** What `webhookBackpressure` found out about this delivery; undefined for a request that it skipped. */
      backpressure?: BackpressureInfo;
    }
  }
}

/** The options of {@link webhookBackpressure}. `onRefused` is given the refusal, the request, the response and next. */
export type WebhookBackpressureOptions = MiddlewareOptions<
  Request,
  [req: Request, res: Response, next: NextFunction]
>;

/**
 * Handles at most `concurrency` deliveries concurrently, queues a limited number of others, and refuses the rest with
 * `Retry-After`. Mount it before any body parser, so that queued and refused deliveries have unread bodies.
 *
 * @throws BackpressureError with the code of the first invalid option.
 *
 * @example
 * ```ts
 * app.use('/webhooks', webhookBackpressure())
 * ```
 */
export function webhookBackpressure(
  options: WebhookBackpressureOptions = {},
): RequestHandler & { intake: Intake } {
  const control = createAdmissionControl<Request, [Request, Response, NextFunction]>(options, {
    ...nodeReader,
    isForWholeApp: (req) => isForWholeApp(req, 'intake', mounted.intake),
  });
  const admission = new RequestAdmission(control);
  const handler = readableErrors(options.onRefused);

  const settle = (verdict: Verdict, req: Request, res: Response, next: NextFunction): unknown => {
    if (verdict === null) return undefined;
    if (verdict.admitted) {
      req.backpressure = verdict;
      setHeaders(res, control.fields());
      // Not before the first delivery: only then all routes are there.
      followHandlers(req.app as Request['app'] | undefined);
      next();
      return undefined;
    }
    if (handler === undefined) {
      writeRefusal(req, res, verdict, { fields: control.fields(verdict) });
      return undefined;
    }
    boundBody(req, res);
    setHeaders(res, control.fields(verdict));
    return handler(verdict, req, res, next);
  };

  const admitUnless = (skips: Skip, req: Request, res: Response, next: NextFunction): unknown => {
    if (typeof skips === 'object') {
      writeRefusal(req, res, skips);
      return undefined;
    }
    const verdict = skips ? null : admission.admit(req, req, res);
    // What an earlier middleware has answered cannot be refused any more.
    if (skips || (verdict === null && res.writableEnded)) {
      next();
      return undefined;
    }
    return verdict instanceof Promise
      ? verdict.then((later) => settle(later, req, res, next))
      : settle(verdict, req, res, next);
  };

  const middleware = forwardingErrors((req, res, next) => {
    const skips = control.skips(req);
    return skips instanceof Promise
      ? skips.then((skipped) => admitUnless(skipped, req, res, next))
      : admitUnless(skips, req, res, next);
  });
  const mounted: RequestHandler & { intake: Intake } = Object.assign(middleware, { intake: control.intake });
  return mounted;
}

export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { closeOnSignals, processPressure, readiness } from '@webhook-backpressure/node';
export type { CloseOnSignalsOptions, ProcessPressureOptions } from '@webhook-backpressure/node';
export default webhookBackpressure;
