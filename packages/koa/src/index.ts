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
import type { Context, Middleware, Next } from 'koa';
import { promised } from './promised.ts';

declare module 'koa' {
  interface DefaultState {
    /** What `webhookBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure?: BackpressureInfo;
  }
}

/** The options of {@link webhookBackpressure}. `onRefused` is given the refusal, the context and next. */
export type WebhookBackpressureOptions = MiddlewareOptions<Context, [ctx: Context, next: Next]>;

/**
 * Handles at most `concurrency` deliveries concurrently, queues a limited number of others, and refuses the rest with
 * `Retry-After`. Mount it before any body parser, so that queued and refused deliveries have unread bodies.
 *
 * @throws BackpressureError with the code of the first invalid option.
 *
 * @example
 * ```ts
 * router.use('/webhooks', webhookBackpressure())
 * ```
 */
export function webhookBackpressure(
  options: WebhookBackpressureOptions = {},
): Middleware & { intake: Intake } {
  const control = createAdmissionControl<Context, [Context, Next]>(options, {
    method: (ctx) => nodeReader.method(ctx.req),
    identity: (ctx) => ctx.req,
    targets: (ctx) => [ctx.originalUrl, ctx.url],
    headers: (ctx) => nodeReader.headers(ctx.req),
    isForWholeApp: (ctx) => ctx.app.middleware.includes(middleware),
    warn: nodeReader.warn,
  });
  const admission = new RequestAdmission(control);
  const handler = readableErrors(options.onRefused);

  const settle = (verdict: Verdict, ctx: Context, next: Next): unknown => {
    if (verdict?.admitted === true) {
      ctx.state.backpressure = verdict;
      setHeaders(ctx.res, control.fields());
      verdict.willEnd();
      const end = (): void => {
        verdict.endHandler();
      };
      // Other composers than Koa's have a `next` that throws or returns no promise.
      const handled = promised(next);
      handled.then(end, end);
      return handled;
    }
    if (verdict !== null && handler !== undefined) {
      boundBody(ctx.req, ctx.res);
      setHeaders(ctx.res, control.fields(verdict));
      return handler(verdict, ctx, next);
    }
    // Koa would end the response itself, and with it the connection, before a sender with a large body saw it.
    ctx.respond = false;
    if (verdict !== null) writeRefusal(ctx.req, ctx.res, verdict, { fields: control.fields(verdict) });
    return undefined;
  };

  const middleware: Middleware = (ctx, next) =>
    promised(() => {
      // What an earlier middleware has answered cannot be refused any more.
      const skips = ctx.res.writableEnded || control.skips(ctx);
      return skips instanceof Promise
        ? skips.then((skipped) => admitUnless(skipped, ctx, next))
        : admitUnless(skips, ctx, next);
    });
  const admitUnless = (skips: Skip, ctx: Context, next: Next): unknown => {
    if (skips === true) return next();
    if (skips !== false) writeRefusal(ctx.req, ctx.res, skips);
    const verdict = skips === false ? admission.admit(ctx, ctx.req, ctx.res) : null;
    return verdict instanceof Promise
      ? verdict.then((settled) => settle(settled, ctx, next))
      : settle(verdict, ctx, next);
  };
  return Object.assign(middleware, { intake: control.intake });
}

export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { closeOnSignals, processPressure } from '@webhook-backpressure/node';
export type { CloseOnSignalsOptions, ProcessPressureOptions } from '@webhook-backpressure/node';
export { readiness } from './readiness.ts';
export default webhookBackpressure;
