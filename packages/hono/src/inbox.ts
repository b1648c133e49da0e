import {
  createInbox,
  type Inbox,
  type InboxOptions,
  isForInbox,
  mountedForAll,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { originalUrl } from '@webhook-backpressure/node/request';
import { keepAliveForInbox, readBody } from '@webhook-backpressure/web/parts';
import type { Context, MiddlewareHandler } from 'hono';
import { nodeBindings } from './node-server.ts';
import { isForWholeApp, waitUntilOf } from './web-context.ts';

const HINT = 'Do not read the body in an earlier middleware.';

/**
 * Creates a handler that verifies and stores a delivery, acknowledges it, and processes it later. GET, HEAD and OPTIONS
 * continue to the next handler, except the handshake of CloudEvents. Mounted without a path, it throws `ERR_WBP_MOUNT`
 * for every other request.
 *
 * @throws BackpressureError with the code of the first invalid option, or the store's error when it cannot be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * app.post('/webhooks', webhooks)
 * ```
 */
export function webhookInbox(
  options: InboxOptions<Context> | ReceiverOptions<Context>,
): MiddlewareHandler & { inbox: Inbox } {
  const inbox = createInbox(options);
  const middleware: MiddlewareHandler = async (c, next) => {
    if (!isForInbox(c.req.method, () => c.req.header())) {
      await next();
      return undefined;
    }
    if (isForWholeApp(c, middleware))
      throw mountedForAll("app.post('/webhooks', webhooks)", "app.post('*', webhooks)");
    const answer = await inbox.receive({
      method: c.req.method,
      url: urlOf(c),
      params: c.req.param(),
      headers: c.req.header(),
      source: c,
      hint: HINT,
      read: (body) => readBody(c.req.raw, body),
    });
    // The sender has disconnected, but Hono requires a response.
    if (answer === null) return new Response(null, { status: 503 });
    const { status, headers, body } = answer;
    if (status < 300) keepAliveForInbox(waitUntilOf(c), inbox);
    return new Response(body === '' ? null : body, { status, headers });
  };
  return Object.assign(middleware, { inbox });
}

/** The URL as node has received it, on node-server: signatures are computed over it, and `Request` normalizes it. */
function urlOf(c: Context): string {
  const incoming = nodeBindings(c.env)?.incoming;
  if (incoming === undefined) return c.req.url;
  return originalUrl(incoming) ?? incoming.url ?? c.req.url;
}

export {
  createWorker,
  memoryStore,
  RetryAfter,
  throwing,
  Unrecoverable,
  verifiers,
} from '@webhook-backpressure/inbox';
export type * from '@webhook-backpressure/inbox';
