import { createReadiness } from '@webhook-backpressure/core/middleware';
import type { Closable } from '@webhook-backpressure/core';

/**
 * Creates a handler for the readiness probe of a load balancer. It responds with 200 while deliveries are accepted, also
 * while shedding or stalled, and with 503 once a source is draining or closing.
 *
 * @param sources - an intake, an inbox, or an array of them. Ready when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
 *
 * @example
 * ```ts
 * export const GET = readiness(backpressure.intake)
 * ```
 */
export function readiness(sources: Closable | readonly Closable[]): () => Response {
  const probe = createReadiness(sources);
  return () => {
    const { status, headers, body } = probe.answer();
    return new Response(body, { status, headers: { ...headers } });
  };
}
