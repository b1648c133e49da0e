import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundBody } from '@webhook-backpressure/node/request';

/** The bindings that `@hono/node-server` passes to apps. */
export interface NodeBindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * The request and response of node:http, or undefined on other runtimes, where the names can mean something else: on
 * Workers, a queue binding called `incoming`.
 */
export function nodeBindings(env: unknown): NodeBindings | undefined {
  const given = (env ?? {}) as Partial<NodeBindings>;
  return typeof given.incoming?.socket === 'object' && typeof given.outgoing?.on === 'function'
    ? (given as NodeBindings)
    : undefined;
}

/** Limits how much of an unread body is read after the response, on node-server. Elsewhere the runtime decides. */
export function boundNodeBody(env: unknown): void {
  const node = nodeBindings(env);
  if (node !== undefined) boundBody(node.incoming, node.outgoing);
}
