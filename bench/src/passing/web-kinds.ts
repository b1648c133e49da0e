import { withBackpressure } from '@webhook-backpressure/web';
import { AMPLE_INTAKE } from '../http/ample.ts';
import { HEADERS } from './node-request.ts';
import type { Kind } from './plan.ts';

export type WebHandler = (request: Request) => Response | Promise<Response>;

/** A web-standard handler that does nothing but answer 200. */
export function webHandler(kind: Kind): WebHandler {
  const answer: WebHandler = () => new Response(null);
  if (kind === 'ours') return withBackpressure(answer, AMPLE_INTAKE);
  if (kind === 'without') return answer;
  return async (request) => answer(request);
}

/** Handlers that are called directly, as by servers of web-standard requests. */
export const handlers: Readonly<Record<string, (kind: Kind) => WebHandler>> = {
  web: webHandler,
  'web-without-context': webHandler,
};

/** Calls a handler with a new request, and resolves with the status of its response. */
export async function requestDirectly(handler: WebHandler): Promise<number> {
  const response = await handler(
    new Request('http://example.com/webhooks', { method: 'POST', headers: HEADERS }),
  );
  return response.status;
}
