import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestReader } from '@webhook-backpressure/core/middleware';

// Workers, where the Hono adapter runs too, have no `process`.
const { process } = globalThis as { readonly process?: NodeJS.Process };
const missesCaches = Number.parseInt(process?.versions.node ?? '24') < 24;

/**
 * Reads a property. Express sets the prototype of each request and each response, and up to Node 22 that gives each one
 * its own hidden class: a property that is read the usual way misses V8's inline caches and takes 0.3 µs. By
 * `Reflect.get`, which has no cache to miss, it takes 0.05 µs. From Node 24 on the usual way is the fastest one.
 */
export function read<T extends object, K extends keyof T>(message: T, name: K): T[K] {
  return missesCaches ? Reflect.get(message, name) : message[name];
}

/** What `url` was before a router cut a prefix off it, as Express and its like keep it; undefined if none did. */
export function originalUrl(request: IncomingMessage): string | undefined {
  const original = read(request as { originalUrl?: unknown }, 'originalUrl');
  return typeof original === 'string' ? original : undefined;
}

/** How every server on node:http reads a request. */
export const nodeReader: RequestReader<IncomingMessage> = {
  method: (request) => read(request, 'method') ?? 'GET',
  identity: (request) => request,
  headers: (request) => read(request, 'headers'),
  warn: (code, message) => {
    process?.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  },
};

/** Sets additional headers of an answer, unless its headers have been sent. */
export function setHeaders(res: ServerResponse, fields: Record<string, string> | undefined): void {
  if (fields === undefined || res.headersSent) return;
  for (const [name, value] of Object.entries(fields)) res.setHeader(name, value);
}
