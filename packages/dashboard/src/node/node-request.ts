import type { IncomingMessage } from 'node:http';
import type { Incoming } from '../requests/incoming.ts';

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
export function incomingFrom(req: IncomingMessage, signal: AbortSignal): Incoming | undefined {
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
  return URL.canParse(origin) ? `${new URL(origin).origin}${path}` : `http://localhost${path}`;
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
