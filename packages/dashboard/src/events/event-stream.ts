import { LAST_OF_CONNECTION, SECURITY_HEADERS } from '../answers/security-headers.ts';

/** The answer that carries the events of an open page. */
export function eventStream(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, {
    headers: {
      ...SECURITY_HEADERS,
      ...LAST_OF_CONNECTION,
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Compression and proxies would hold events back until they have enough of them.
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
  });
}
