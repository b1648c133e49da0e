import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundBody } from '@webhook-backpressure/node/request';

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

/** Bounds what is read of an unread body once the answer is out, on node-server. Elsewhere the runtime decides. */
export function boundNodeBody(env: unknown): void {
  const node = nodeBindings(env);
  if (node !== undefined) boundBody(node.incoming, node.outgoing);
}
