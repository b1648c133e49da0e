import { createInbox, isDelivery, type Inbox, type InboxOptions } from '@webhook-backpressure/core';
import { inboxRequest, writeRefusal } from '@webhook-backpressure/node';
import type { Request, RequestHandler } from 'express';

const HINT =
  'Put this route before app.use(express.json()), or read this path by express.raw({ type: "*/*" }).';

/**
 * A handler that reads a delivery, verifies it, stores it, acknowledges it, and processes it later. Mount it before any
 * body parser: signatures are made over the bytes. GET, HEAD and OPTIONS go on to the next handler.
 *
 * @throws BackpressureError with the code of the first option that is wrong; and what the store throws when it cannot
 * be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * app.post('/webhooks', webhooks)
 * ```
 */
export function webhookInbox(options: InboxOptions<Request>): RequestHandler & { inbox: Inbox } {
  const inbox = createInbox(options);
  const middleware: RequestHandler = (req, res, next) => {
    if (!isDelivery(req.method)) {
      next();
      return;
    }
    inbox
      .receive(inboxRequest(req, { params: req.params, source: req, hint: HINT }))
      .then((answer) => {
        if (answer !== null) writeRefusal(req, res, answer);
      })
      // Also when the answer cannot be written: that of a `handshake` may be anything.
      .catch(next);
  };
  return Object.assign(middleware, { inbox });
}
