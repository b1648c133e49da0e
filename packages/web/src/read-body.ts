import type { BodyEnd, BodySink } from '@webhook-backpressure/core';

/** Reads the body of a web-standard request for `inbox.receive`. */
export async function readBody(request: Request, sink: BodySink): Promise<BodyEnd> {
  const body = request.body as ReadableStream<Uint8Array> | null;
  if (request.bodyUsed || body?.locked === true) return 'consumed';
  if (body === null) return 'whole';
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'whole';
      if (sink.add(value)) continue;
      // Not awaited: some runtimes resolve it only when the sender has sent the rest.
      reader.cancel().catch(() => undefined);
      return 'whole';
    }
  } catch {
    return 'gone';
  }
}
