import type { BodyEnd, BodySink } from '@webhook-backpressure/core';

/** Reads the body of a web-standard request for `inbox.receive`. */
export async function readBody(request: Request, body: BodySink): Promise<BodyEnd> {
  if (request.bodyUsed) return 'consumed';
  if (request.body === null) return 'whole';
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'whole';
      if (body.add(value)) continue;
      // Not awaited: some runtimes resolve it only when the sender has sent the rest.
      reader.cancel().catch(() => undefined);
      return 'whole';
    }
  } catch {
    return 'gone';
  }
}
