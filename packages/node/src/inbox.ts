import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createInbox,
  isDelivery,
  METHOD_NOT_ALLOWED,
  type BodyEnd,
  type BodySink,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
} from '@webhook-backpressure/core';
import { originalUrl } from './request/read-property.ts';
import { writeRefusal } from './request/refuse.ts';
import { answeringFailures } from './with-backpressure.ts';

const HINT = 'Do not read the request before the inbox does.';

/**
 * A request listener that reads a delivery, verifies it, stores it, acknowledges it, and processes it later. Only POST and
 * what else carries a body is a delivery; GET, HEAD and OPTIONS get 405.
 *
 * A callback that throws, or rejects, is answered with 500 and reported as a process warning.
 *
 * @throws BackpressureError with the code of the first option that is wrong; and what the store throws when it cannot
 * be opened.
 *
 * @example
 * ```ts
 * const webhooks = webhookInbox({ store: sqliteStore({ path: './webhooks.db' }), verify, process: work })
 * createServer(webhooks).listen(3000)
 * ```
 */
export function webhookInbox(
  options: InboxOptions<IncomingMessage>,
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

/** A request of node:http, for an inbox, with what only its framework knows: `url`, what it was before it changed it. */
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
  // Of an empty body somebody may have taken the end, which is not told twice; nothing of it is lost.
  if (req.readableEnded) return Promise.resolve('whole');
  if (req.destroyed) return Promise.resolve('gone');
  return new Promise((resolve) => {
    const end = (result: 'whole' | 'gone'): void => {
      req.off('data', take).off('end', whole).off('close', gone).off('error', gone);
      resolve(result);
    };
    const take = (chunk: Uint8Array): void => {
      if (!body.add(chunk)) end('whole');
    };
    const whole = (): void => {
      end('whole');
    };
    const gone = (): void => {
      end('gone');
    };
    req.on('data', take).on('end', whole).on('close', gone).on('error', gone);
    // Somebody may have paused it, to read it later.
    req.resume();
  });
}

/** The bytes as they came, where somebody has read them and kept them: `express.raw`, and hosts of functions. */
function bytesReadBefore(req: IncomingMessage): Uint8Array | undefined {
  const { rawBody, body } = req as { rawBody?: unknown; body?: unknown };
  if (rawBody instanceof Uint8Array) return rawBody;
  return body instanceof Uint8Array ? body : undefined;
}
