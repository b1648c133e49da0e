import {
  createInbox,
  type Inbox,
  type InboxOptions,
  isForInbox,
  mountedForAll,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { inboxRequest, writeRefusal } from '@webhook-backpressure/node/request';
import type { Request, RequestHandler } from 'express';
import { isForWholeApp } from './router-stack.ts';

const HINT =
  'Register this route before app.use(express.json()), or parse it with express.raw({ type: "*/*" }).';

/**
 * Creates a handler that verifies and stores a delivery, acknowledges it, and processes it later. Register it before body
 * parsers: signatures are computed over the exact bytes. GET, HEAD and OPTIONS continue to the next handler, except the
 * handshake of CloudEvents. Mounted without a path, it passes `ERR_WBP_MOUNT` to `next` for every other request.
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
  options: InboxOptions<Request> | ReceiverOptions<Request>,
): RequestHandler & { inbox: Inbox } {
  const inbox = createInbox(options);
  const middleware: RequestHandler = (req, res, next) => {
    if (!isForInbox(req.method, () => req.headers)) {
      next();
      return;
    }
    if (isForWholeApp(req, 'inbox', inbox)) {
      next(mountedForAll("app.post('/webhooks', webhooks)", 'app.post(/.*/, webhooks)'));
      return;
    }
    inbox
      .receive(inboxRequest(req, { params: req.params, source: req, hint: HINT }))
      .then((answer) => {
        if (answer !== null) writeRefusal(req, res, answer);
      })
      // Also if the response cannot be written: a `handshake` may return invalid headers.
      .catch(next);
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
