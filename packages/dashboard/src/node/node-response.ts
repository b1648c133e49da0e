import type { ServerResponse } from 'node:http';

interface Sending {
  readonly hasBody: boolean;
  /** Whether the connection ends after it. */
  readonly isLast: boolean;
}

/** Sends a response with node:http. Resolves when all of it is written, or its connection has closed. */
export async function send(answer: Response, res: ServerResponse, how: Sending): Promise<void> {
  if (res.headersSent || res.destroyed) {
    await answer.body?.cancel();
    return;
  }
  res.statusCode = answer.status;
  // Whose streams share one connection.
  const isHttp2 = res.req.httpVersionMajor > 1;
  for (const [name, value] of answer.headers) {
    if (name === 'set-cookie' || (name === 'connection' && isHttp2)) continue;
    res.setHeader(name, value);
  }
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) res.setHeader('Set-Cookie', cookies);
  if (how.isLast && !isHttp2) res.setHeader('Connection', 'close');
  if (answer.body === null || !how.hasBody) {
    await answer.body?.cancel();
    res.end();
    return;
  }
  await pipe(answer.body, res);
}

async function pipe(body: ReadableStream<Uint8Array>, res: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const closed = new Promise<void>((resolve) => {
    res.once('close', () => {
      resolve();
      reader.cancel().catch(() => undefined);
    });
  });
  // The stream of a page that reads too slowly fails, also while a write waits for it.
  reader.closed.catch(() => res.destroy());
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!res.write(value)) await Promise.race([drained(res), closed]);
    }
    res.end();
  } catch {
    res.destroy();
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    res.once('drain', resolve);
  });
}
