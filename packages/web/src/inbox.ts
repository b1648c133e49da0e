import {
  createInbox,
  type Inbox,
  type InboxOptions,
  isForInbox,
  METHOD_NOT_ALLOWED,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { keepAliveForInbox } from './platform/keep-alive.ts';
import { waitUntilFinder, withoutWaitUntil, type WaitUntilOption } from './platform/wait-until.ts';
import { readBody, requestOf, type RequestSource, routeParamsOf } from './request/request-of.ts';

/** Options of {@link webhookInbox}. */
export type WebhookInboxOptions = (InboxOptions<Request> | ReceiverOptions<Request>) & WaitUntilOption;

/** Handles a delivery. Next.js checks the first parameter of the last form, and accepts no other type than `Request`. */
export type WebInboxHandler = ((source: RequestSource, ...rest: unknown[]) => Promise<Response>) &
  ((request: Request, ...rest: unknown[]) => Promise<Response>);

const HINT = 'Do not read the body before the inbox.';

/**
 * Creates a handler that verifies and stores a delivery, acknowledges it, and processes it later. It responds to GET, HEAD
 * and OPTIONS with 405, except to the handshake of CloudEvents: export it as OPTIONS too where routes are exported by method.
 *
 * @throws BackpressureError with the code of the first invalid option, or the store's error when it cannot be opened.
 *
 * @example
 * ```ts
 * export const POST = webhookInbox({ store: postgresStore({ connectionString }), verify })
 * ```
 */
export function webhookInbox(options: WebhookInboxOptions): WebInboxHandler & { inbox: Inbox } {
  const findWaitUntil = waitUntilFinder(options);
  const inbox = createInbox(withoutWaitUntil(options) as InboxOptions<Request> | ReceiverOptions<Request>);
  const receive = async (source: RequestSource, ...rest: unknown[]): Promise<Response> => {
    const request = requestOf(source);
    const answer = isForInbox(request.method, () => Object.fromEntries(request.headers))
      ? await inbox.receive({
          method: request.method,
          url: request.url,
          params: await routeParamsOf(source, rest),
          headers: Object.fromEntries(request.headers),
          source: request,
          hint: HINT,
          read: (body) => readBody(request, body),
        })
      : METHOD_NOT_ALLOWED;
    // The sender has disconnected, but the platform requires a response.
    if (answer === null) return new Response(null, { status: 503 });
    const { status, headers, body } = answer;
    if (status < 300) keepAliveForInbox(findWaitUntil([source, ...rest]), inbox);
    return new Response(body === '' ? null : body, { status, headers });
  };
  return Object.assign(receive, { inbox });
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
export type { RequestSource, WaitUntilOption };
