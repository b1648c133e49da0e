import { createReadiness } from '@webhook-backpressure/core/middleware';
import type { Closable } from '@webhook-backpressure/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Creates a handler for the readiness probe of a load balancer. It responds with 200 while deliveries are accepted, also
 * while shedding or stalled, and with 503 once `closeOnSignals` is draining or a source is closing.
 *
 * @param sources - an intake, an inbox, or an array of them. Ready when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
 *
 * @example
 * ```ts
 * app.get('/ready', readiness(intake))
 * ```
 */
export function readiness(
  sources: Closable | readonly Closable[],
): (request: FastifyRequest, reply: FastifyReply) => unknown {
  const probe = createReadiness(sources);
  return (_request, reply) => {
    const { status, headers, body } = probe.answer();
    return reply
      .code(status)
      .headers({ ...headers })
      .send(body);
  };
}
