import { BackpressureError } from '@webhook-backpressure/base';

/**
 * The first argument of a handler: a request, or an object that contains it, such as the event of SvelteKit and H3, and
 * the context of Astro and Elysia.
 */
export type RequestSource = Request | { readonly request: Request } | { readonly req: Request };

/**
 * The request that a handler was called for.
 *
 * @throws BackpressureError `ERR_WBP_REQUEST` when it was called with something else.
 */
export function requestOf(source: RequestSource): Request {
  const { request, req } = (source as { request?: unknown; req?: unknown } | undefined) ?? {};
  // Checked first: the event of H3 and the context of Elysia have `headers` as well, but no body.
  if (isRequest(request)) return request;
  if (isRequest(req)) return req;
  if (isRequest(source)) return source;
  throw new BackpressureError(
    'ERR_WBP_REQUEST',
    'A web-standard handler was called without a Request: its first argument must be a Request, or have one as its ' +
      'request or req property. Use @webhook-backpressure/node for requests of node:http, such as those of Express.',
  );
}

/** Not by `instanceof`: servers and tests have classes of requests that are not the global one. */
function isRequest(value: unknown): value is Request {
  if (typeof value !== 'object' || value === null) return false;
  const { method, headers } = value as { method?: unknown; headers?: { get?: unknown } };
  return typeof method === 'string' && typeof headers?.get === 'function';
}
