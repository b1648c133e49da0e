import {
  createInbox,
  isDelivery,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
} from '@webhook-backpressure/core';
import { inboxRequest, writeRefusal } from '@webhook-backpressure/node';
import type { Context, Middleware } from 'koa';

const HINT = 'Mount the inbox before the body parser, or let the parser pass this path by.';

/**
 * A middleware that reads a delivery, verifies it, stores it, acknowledges it, and processes it later. Mount it before any
 * body parser: signatures are made over the bytes. GET, HEAD and OPTIONS go on to the next middleware.
 *
 * @throws BackpressureError with the code of the first option that is wrong; and what the store throws when it cannot
 * be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * router.post('/webhooks', webhooks)
 * ```
 */
export function webhookInbox(options: InboxOptions<Context>): Middleware & { inbox: Inbox } {
  const inbox = createInbox(options);
  const middleware: Middleware = async (ctx, next): Promise<unknown> => {
    if (!isDelivery(ctx.method)) return next() as Promise<unknown>;
    // Routers put it there; Koa itself has none.
    const { params } = ctx as Pick<InboxRequest, 'params'>;
    const answer = await inbox.receive(
      inboxRequest(ctx.req, { url: ctx.originalUrl, params, source: ctx, hint: HINT }),
    );
    // Koa would end the response itself, and with it the connection, before a sender with a large body saw it.
    ctx.respond = false;
    if (answer !== null) writeRefusal(ctx.req, ctx.res, answer);
    return undefined;
  };
  return Object.assign(middleware, { inbox });
}
