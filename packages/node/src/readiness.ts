import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReadiness } from '@webhook-backpressure/core/middleware';
import type { Closable } from '@webhook-backpressure/core';

/**
 * Creates a request listener for the readiness probe of a load balancer. It responds with 200 while deliveries are
 * accepted, also while shedding or stalled, and with 503 once `closeOnSignals` is draining or a source is closing. The
 * body is `{"status":"ready"}`, `"draining"` or `"closing"`. With a probe, `closeOnSignals` drains for 5 s by default.
 *
 * @param sources - an intake, an inbox, or an array of them. Ready when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
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
