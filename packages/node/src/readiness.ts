import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReadiness, type Closable } from '@webhook-backpressure/core';

/**
 * A request listener for the readiness probe of a load balancer: 200 while deliveries are accepted, also while
 * shedding or stalled, and 503 from the moment when `closeOnSignals` drains or anything closes. The body is
 * `{"status":"ready"}`, `"draining"` or `"closing"`. With it `closeOnSignals` drains for 5 s by default.
 *
 * @param sources - an intake, an inbox, or an array of them; ready when all are.
 * @throws BackpressureError `ERR_WBP_READINESS` when something else is among them, or nothing at all.
 *
 * @example
 * ```ts
 * app.get('/ready', readiness(backpressure.intake))
 * closeOnSignals(backpressure.intake, { server })
 * ```
 */
export function readiness(
  sources: Closable | readonly Closable[],
): (req: IncomingMessage, res: ServerResponse) => void {
  const probe = createReadiness(sources);
  return (_req, res) => {
    const { status, headers, body } = probe.answer();
    res.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}
