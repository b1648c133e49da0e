import type { BodyEnd, BodySink } from '@webhook-backpressure/inbox';

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
