import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyTimedOut } from '@webhook-backpressure/core/middleware';
import type { Delivery } from '@webhook-backpressure/core';
import { boundBody } from '@webhook-backpressure/node/request';
import type { Context } from 'hono';

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

/** Requests that were neither admitted nor refused. Hono answers them, as it ignores what is written to node's response. */
export class UndecidedRequests {
  readonly #late = new WeakMap<IncomingMessage, Delivery>();

  /** Notes a request whose body did not arrive in time. */
  late(req: IncomingMessage, _res: ServerResponse, delivery: Delivery): null {
    this.#late.set(req, delivery);
    return null;
  }

  /** Notes a request whose sender has gone. */
  gone(): null {
    return null;
  }

  answer(c: Context): Response {
    const node = nodeBindings(c.env);
    const delivery = node === undefined ? undefined : this.#late.get(node.incoming);
    // The sender has gone, but Hono requires a response.
    if (delivery === undefined) return c.body(null, 503);
    boundNodeBody(c.env);
    const { status, headers, body } = bodyTimedOut(delivery);
    return c.body(body, status, headers);
  }
}
