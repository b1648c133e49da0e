import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type BodyEnd,
  type BodySink,
  createInbox,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
  isDelivery,
  METHOD_NOT_ALLOWED,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { originalUrl } from './request/messages.ts';
import { writeRefusal } from './request/refuse.ts';
import { answeringFailures } from './with-backpressure.ts';

const HINT = 'Do not read the request before the inbox.';

/**
 * Creates a request listener that verifies and stores a delivery, acknowledges it, and processes it later. It responds to
 * GET, HEAD and OPTIONS with 405.
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
    const answer = isDelivery(req.method ?? '')
      ? await inbox.receive(inboxRequest(req, { hint: HINT, source: req }))
      : METHOD_NOT_ALLOWED;
    if (answer !== null) writeRefusal(req, res, answer);
  });
  return Object.assign(listener, { inbox });
}

/**
 * Converts a request of node:http for `inbox.receive`.
 *
 * @param known - what only the framework knows. `url`: the URL before the framework changed it.
 */
export function inboxRequest(
  req: IncomingMessage,
  { url = req.url, ...known }: Pick<InboxRequest, 'hint' | 'params' | 'source' | 'url'>,
): InboxRequest {
  const { method, headers } = req;
  return { method, url: originalUrl(req) ?? url, headers, read: (body) => read(req, body), ...known };
}

function read(req: IncomingMessage, body: BodySink): Promise<BodyEnd> {
  const bytes = bytesReadBefore(req);
  if (bytes !== undefined) {
    body.add(bytes);
    return Promise.resolve('whole');
  }
  if (req.readableDidRead) return Promise.resolve('consumed');
  // The end of an empty body was already emitted, and is not emitted again. Nothing is lost.
  if (req.readableEnded) return Promise.resolve('whole');
  if (req.destroyed) return Promise.resolve('gone');
  return new Promise((resolve) => {
    const end = (result: 'whole' | 'gone'): void => {
      req.off('data', add).off('end', whole).off('close', gone).off('error', gone);
      resolve(result);
    };
    const add = (chunk: Uint8Array): void => {
      if (!body.add(chunk)) end('whole');
    };
    const whole = (): void => {
      end('whole');
    };
    const gone = (): void => {
      end('gone');
    };
    req.on('data', add).on('end', whole).on('close', gone).on('error', gone);
    // An earlier listener may have paused it.
    req.resume();
  });
}

/** The unparsed bytes, if an earlier reader kept them: `express.raw`, or a serverless host. */
function bytesReadBefore(req: IncomingMessage): Uint8Array | undefined {
  const { rawBody, body } = req as { rawBody?: unknown; body?: unknown };
  if (rawBody instanceof Uint8Array) return rawBody;
  return body instanceof Uint8Array ? body : undefined;
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
export { cloudEventsHandshake } from '@webhook-backpressure/senders';
