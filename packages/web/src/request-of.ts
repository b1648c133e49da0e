/**
 * The first argument of a handler: a request, or an object that contains it, such as the event of SvelteKit and H3, and
 * the context of Astro and Elysia.
 */
export type RequestSource = Request | { readonly request: Request } | { readonly req: Request };

/** The request that a handler was called for. */
export function requestOf(source: RequestSource): Request {
  if ('headers' in source && 'method' in source) return source as Request;
  return 'request' in source ? source.request : (source as { readonly req: Request }).req;
}
