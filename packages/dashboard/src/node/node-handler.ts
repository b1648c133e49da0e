import { parseUrl } from '@webhook-backpressure/base';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from '../answers/answers.ts';
import type { Handler } from '../requests/handler.ts';
import type { Incoming } from '../requests/incoming.ts';

/** Answers a request of node:http. Never rejects. */
export async function handleNode(
  handler: Handler,
  req: IncomingMessage,
  res: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  try {
    const incoming = incomingFrom(req, gone.signal);
    const answer =
      incoming === undefined
        ? // Not authorized yet, so the answer has no address that names this library.
          json({ code: 'BAD_REQUEST', message: 'The request is not valid.' }, 400)
        : await handler.handle(incoming);
    // A server that closes waits until its connections end.
    const isLast = incoming?.isServing() === false;
    await send(answer, res, { hasBody: req.method !== 'HEAD', isLast });
  } catch (error) {
    onError(error);
    res.destroy();
  }
}

/** What Express, and parsers of bodies, add to a request. */
interface Added {
  readonly originalUrl?: unknown;
  readonly baseUrl?: unknown;
  readonly body?: unknown;
}

/**
 * A request of node:http, of Express or of Koa.
 *
 * @returns undefined for one that no web-standard request can represent, such as TRACE.
 */
function incomingFrom(req: IncomingMessage, signal: AbortSignal): Incoming | undefined {
  const { originalUrl, baseUrl } = req as Added;
  const url = req.url ?? '/';
  const whole = typeof originalUrl === 'string' ? originalUrl : url;
  try {
    const request = new Request(addressOf(req, whole), {
      method: req.method ?? 'GET',
      headers: headersOf(req),
      signal,
    });
    return {
      request,
      path: pathOf(url),
      isBelowMount: typeof baseUrl === 'string' && baseUrl !== '',
      isServing: () => serverOf(req)?.listening !== false,
      readBody: (maxBytes) => bodyOf(req, maxBytes),
    };
  } catch {
    return undefined;
  }
}

function addressOf(req: IncomingMessage, url: string): string {
  const isSecure = (req.socket as { encrypted?: boolean } | undefined)?.encrypted === true;
  const { host, ':authority': authority } = req.headers;
  const origin = `${isSecure ? 'https' : 'http'}://${host ?? (authority as string | undefined) ?? 'localhost'}`;
  const path = url.startsWith('/') ? url : pathAndQueryOf(url);
  return `${parseUrl(origin)?.origin ?? 'http://localhost'}${path}`;
}

function serverOf({ socket }: IncomingMessage): { readonly listening?: boolean } | undefined {
  return (socket as { server?: { listening?: boolean } } | undefined)?.server;
}

function pathAndQueryOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The path of `/path?query`, or of the absolute URL that a proxy may send. */
function pathOf(url: string): string {
  const [path = '/'] = url.split('?', 1);
  return path.startsWith('/') ? path : new URL(url).pathname;
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copy = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // Those of HTTP/2 that are no headers begin with a colon.
    if (value === undefined || name.startsWith(':')) continue;
    for (const one of Array.isArray(value) ? value : [value]) copy.append(name, one);
  }
  return copy;
}

async function bodyOf(req: IncomingMessage, maxBytes: number): Promise<string | null> {
  if (Number(req.headers['content-length']) > maxBytes) return null;
  if (req.readableDidRead) return parsedBefore((req as Added).body);
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of req as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > maxBytes) return null;
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/** The body that a middleware in front, such as `express.json()`, has read. */
function parsedBefore(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  return body === undefined ? '' : JSON.stringify(body);
}

interface Sending {
  readonly hasBody: boolean;
  /** Whether the connection ends after it. */
  readonly isLast: boolean;
}

/** Sends a response with node:http. Resolves when all of it is written, or its connection has closed. */
async function send(answer: Response, res: ServerResponse, how: Sending): Promise<void> {
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
