import { createReadiness } from '@webhook-backpressure/core/middleware';
import type { Closable } from '@webhook-backpressure/core';
import type { Middleware } from 'koa';

/**
 * Creates a middleware for the readiness probe of a load balancer. It responds with 200 while deliveries are accepted,
 * also while shedding or stalled, and with 503 once `closeOnSignals` is draining or a source is closing. Mount it on a
 * path.
 *
 * @param sources - an intake, an inbox, or an array of them. Ready when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
 *
 * @example
 * ```ts
 * router.get('/ready', readiness(backpressure.intake))
 * ```
 */
export function readiness(sources: Closable | readonly Closable[]): Middleware {
  const probe = createReadiness(sources);
  return (ctx) => {
    const { status, headers, body } = probe.answer();
    ctx.status = status;
    ctx.body = body;
    ctx.set(headers);
  };
}
