import type { Incoming } from './incoming.ts';

/** A web-standard request, as Hono, Bun and Deno pass it. */
export function incomingOf(request: Request): Incoming {
  return {
    request,
    path: new URL(request.url).pathname,
    isBelowMount: false,
    // Only node:http knows.
    isServing: () => true,
    readBody: (maxBytes) => textOf(request, maxBytes),
  };
}

async function textOf(request: Request, maxBytes: number): Promise<string | null> {
  if (Number(request.headers.get('content-length')) > maxBytes) return null;
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  const reader = request.body.getReader();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}
