import { createReadiness, type Closable } from '@webhook-backpressure/core';
import type { Handler } from 'hono';

/**
 * A handler for the readiness probe of a load balancer: 200 while deliveries are accepted, also while shedding or
 * stalled, and 503 from the moment when `closeOnSignals` drains or anything closes.
 *
 * @param sources - an intake, an inbox, or an array of them; ready when all are.
 * @throws BackpressureError `ERR_WBP_READINESS` when something else is among them, or nothing at all.
 *
 * @example
 * ```ts
 * app.get('/ready', readiness(backpressure.intake))
 * ```
 */
export function readiness(sources: Closable | readonly Closable[]): Handler {
  const probe = createReadiness(sources);
  return (c) => {
    const { status, headers, body } = probe.answer();
    return c.body(body, status, { ...headers });
  };
}
