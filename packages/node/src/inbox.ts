import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createInbox,
  type Inbox,
  type InboxOptions,
  isForInbox,
  METHOD_NOT_ALLOWED,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { inboxRequest } from './request/inbox-request.ts';
import { writeRefusal } from './request/refuse.ts';
import { answeringFailures } from './with-backpressure.ts';

const HINT = 'Do not read the request before the inbox.';

/**
 * Creates a request listener that verifies and stores a delivery, acknowledges it, and processes it later. It responds to
 * GET, HEAD and OPTIONS with 405, except to the handshake of CloudEvents.
 *
 * When a callback throws or rejects, the response is 500 and a process warning reports the error.
 *
 * @throws BackpressureError with the code of the first invalid option, or the store's error when it cannot be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * createServer(webhooks).listen(3000)
 * ```
 */
export function webhookInbox(
  options: InboxOptions<IncomingMessage> | ReceiverOptions<IncomingMessage>,
): ((req: IncomingMessage, res: ServerResponse) => void) & { inbox: Inbox } {
  const inbox = createInbox(options);
  const listener = answeringFailures(async (_self, req, res) => {
    const answer = isForInbox(req.method, () => req.headers)
      ? await inbox.receive(inboxRequest(req, { hint: HINT, source: req }))
      : METHOD_NOT_ALLOWED;
    if (answer !== null) writeRefusal(req, res, answer);
  });
  return Object.assign(listener, { inbox });
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
