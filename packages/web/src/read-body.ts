import type { BodyEnd, BodySink } from '@webhook-backpressure/core';

/** Reads the body of a web-standard request for `inbox.receive`. */
export async function readBody(request: Request, body: BodySink): Promise<BodyEnd> {
  if (request.bodyUsed) return 'consumed';
  if (request.body === null) return 'whole';
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  let isEmpty = true;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return isEmpty && isCutOff(request) ? 'gone' : 'whole';
      isEmpty = false;
      if (body.add(value)) continue;
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
