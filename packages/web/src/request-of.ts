/**
 * The first argument of a handler: a request, or an object that contains it, such as the event of SvelteKit and H3, and
 * the context of Astro and Elysia.
 */
export type RequestSource = Request | { readonly request: Request } | { readonly req: Request };

/** The request that a handler was called for. */
export function requestOf(source: RequestSource): Request {
  // The event of H3 and the context of Elysia have `headers` as well, but no body.
  if ('request' in source) return source.request;
  return 'req' in source ? source.req : source;
}
