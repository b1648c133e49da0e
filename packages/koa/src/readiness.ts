import { createReadiness, type Closable } from '@webhook-backpressure/core';
import type { Middleware } from 'koa';

/**
 * A middleware for the readiness probe of a load balancer: 200 while deliveries are accepted, also while shedding or
 * stalled, and 503 from the moment when `closeOnSignals` drains or anything closes. Mount it on a path.
 *
 * @param sources - an intake, an inbox, or an array of them; ready when all are.
 * @throws BackpressureError `ERR_WBP_READINESS` when something else is among them, or nothing at all.
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
