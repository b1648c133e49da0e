import { BackpressureError } from '@webhook-backpressure/base';
import type { BodyEnd, BodySink, RequestParts } from '@webhook-backpressure/inbox';

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
  // Most, and faster than to look for properties that a request does not have. A test environment may have no such class.
  if (typeof Request === 'function' && source instanceof Request) return source;
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

/**
 * The headers by lowercase name. `Object.fromEntries` costs five times as much on Node. It also keeps a header called
 * `__proto__`, in which no sender has anything.
 */
export function headersOf(request: Request): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const entry of request.headers) headers[entry[0]] = entry[1];
  return headers;
}

type Params = RequestParts['params'];

interface WithParams {
  readonly params?: Params | Promise<Params>;
  readonly context?: { readonly params?: Params };
}

/**
 * The route params of the framework: `params` of the first argument (SvelteKit, Astro, Elysia, Bun) or of its `context`
 * (H3), or of the second one, where it can be a promise (Next.js).
 */
export async function routeParamsOf(source: RequestSource, rest: readonly unknown[]): Promise<Params> {
  const first = source as WithParams;
  const second = rest[0] as WithParams | null | undefined;
  const params = await (first.params ?? first.context?.params ?? second?.params);
  return typeof params === 'object' ? params : undefined;
}

/** Reads the body of a web-standard request for `inbox.receive`. */
export async function readBody(request: Request, sink: BodySink): Promise<BodyEnd> {
  const body = request.body as ReadableStream<Uint8Array> | null;
  if (request.bodyUsed || body?.locked === true) return 'consumed';
  if (body === null) return 'whole';
  const reader = body.getReader();
  let isEmpty = true;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return isEmpty && isCutOff(request) ? 'gone' : 'whole';
      isEmpty = false;
      if (sink.add(value)) continue;
      // Not awaited: some runtimes resolve it only when the sender has sent the rest.
      reader.cancel().catch(() => undefined);
      return 'whole';
    }
  } catch {
    return 'gone';
  }
}

/**
 * Whether the sender disconnected before an empty body was read. On `@hono/node-server` the body of such a request is
 * empty and not an error.
 */
function isCutOff(request: Request): boolean {
  if (Number(request.headers.get('content-length')) > 0) return true;
  // Other servers and tests have requests without a signal.
  return (request as { signal?: AbortSignal }).signal?.aborted === true;
}

/** @throws BackpressureError `ERR_WBP_CALLBACK` for anything but a function. */
export function checkHandler(handler: unknown): void {
  if (typeof handler === 'function') return;
  throw new BackpressureError(
    'ERR_WBP_CALLBACK',
    `The first argument of withBackpressure() must be a request handler (a function), but was ${typeof handler}.`,
  );
}
