import {
  createInbox,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
  isForInbox,
  mountedForAll,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { inboxRequest, writeRefusal } from '@webhook-backpressure/node/request';
import type { Context, Middleware } from 'koa';

const HINT = 'Mount the inbox before the body parser, or exclude its path from the parser.';

/**
 * Creates a middleware that verifies and stores a delivery, acknowledges it, and processes it later. Mount it before body
 * parsers: signatures are computed over the exact bytes. GET, HEAD and OPTIONS continue to the next middleware,
 * except the handshake of CloudEvents. Mounted without a router, it throws `ERR_WBP_MOUNT` for every other request.
 *
 * @throws BackpressureError with the code of the first invalid option, or the store's error when it cannot be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * router.post('/webhooks', webhooks)
 * ```
 */
export function webhookInbox(
  options: InboxOptions<Context> | ReceiverOptions<Context>,
): Middleware & { inbox: Inbox } {
  const inbox = createInbox(options);
  const middleware: Middleware = async (ctx, next): Promise<unknown> => {
    if (!isForInbox(ctx.method, () => ctx.headers)) return next() as Promise<unknown>;
    // A router, or a function that calls the inbox, has chosen the requests, and so has a framework with this app at a path.
    if (ctx.app.middleware.includes(middleware) && ctx.url === ctx.originalUrl)
      throw mountedForAll(
        "router.post('/webhooks', webhooks)",
        'app.use((ctx, next) => webhooks(ctx, next))',
      );
    // Set by routers, not by Koa itself.
    const { params } = ctx as Pick<InboxRequest, 'params'>;
    const answer = await inbox.receive(
      inboxRequest(ctx.req, { url: ctx.originalUrl, params, source: ctx, hint: HINT }),
    );
    // Koa would end the response and the connection before a sender of a large body has read the response.
    ctx.respond = false;
    if (answer !== null) writeRefusal(ctx.req, ctx.res, answer);
    return undefined;
  };
  return Object.assign(middleware, { inbox });
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
