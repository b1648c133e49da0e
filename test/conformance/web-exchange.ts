import type { Exchange, Outflow } from './exchange.ts';

/** An exchange whose handler returns a `Response`. */
export interface WebExchange extends Exchange {
  response: Response | undefined;
}

/** A streamed body, and what writes it. */
export function webOutflow(): { readonly outflow: Outflow; readonly readable: ReadableStream<Uint8Array> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  // All of these reject when the reader has disconnected, which these tests do not check.
  const ignore = (): void => undefined;
  writer.closed.catch(ignore);
  return {
    readable,
    outflow: {
      write: (chunk) => void writer.write(encoder.encode(chunk)).catch(ignore),
      end: () => void writer.close().catch(ignore),
      fail: (error) => void writer.abort(error).catch(ignore),
    },
  };
}
