import type { IncomingMessage, ServerResponse } from 'node:http';

/** What `@hono/node-server` gives its apps. */
export interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * The request and the response as node has them, or undefined anywhere else. Elsewhere the names may stand for
 * anything: a queue that is called `incoming`, on Workers.
 */
export function nodeBindings(env: unknown): NodeBindings | undefined {
  const given = (env ?? {}) as Partial<NodeBindings>;
  return typeof given.incoming?.socket === 'object' && typeof given.outgoing?.on === 'function'
    ? (given as NodeBindings)
    : undefined;
}

/** What Hono is given to return where the answer has been written to node's own response. */
export function alreadySent(): Response {
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
}
