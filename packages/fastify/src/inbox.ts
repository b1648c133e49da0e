import {
  createInbox,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
  isForInbox,
  type ReceiverOptions,
} from '@webhook-backpressure/inbox';
import { inboxRequest } from '@webhook-backpressure/node/request';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { gate, type Gate } from './gate.ts';
import { sendAnswer } from './gate.ts';

const HINT =
  'Pass the inbox as the options of the route, app.post(path, webhooks), and keep its onRequest hook.';

/** The options of a route that receives deliveries. */
export interface InboxRoute {
  /** Receives deliveries before their bodies are parsed. GET, HEAD and OPTIONS continue to the handler, except a
   * handshake of CloudEvents. */
  readonly onRequest: Gate;
  /** Responds with 405. Replace it to respond to GET, HEAD or OPTIONS. */
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** The inbox: dead letters, snapshots, events and shutdown. */
  readonly inbox: Inbox;
}

/**
 * Creates the options of a route that verifies and stores a delivery, acknowledges it, and processes it later. They have
 * an `onRequest` hook, so that no content type parser, body limit or schema applies: signatures are computed over the
 * exact bytes. Hooks of the scope, such as authentication, run before.
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
  options: InboxOptions<FastifyRequest> | ReceiverOptions<FastifyRequest>,
): InboxRoute {
  const inbox = createInbox(options);
  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<false> => {
    const { originalUrl: url } = request;
    const params = request.params as InboxRequest['params'];
    const answer = await inbox.receive(
      inboxRequest(request.raw, { url, params, source: request, hint: HINT }),
    );
    sendAnswer(request, reply, answer);
    return false;
  };
  const isReceived = ({ method, headers }: FastifyRequest): boolean => isForInbox(method, () => headers);
  return {
    inbox,
    onRequest: gate((request, reply) => !isReceived(request) || receive(request, reply)),
    // A delivery is only here if the hook has been replaced: the inbox then throws the error with the hint.
    handler: (request, reply) =>
      isReceived(request)
        ? receive(request, reply).then(() => reply)
        : reply.code(405).header('Allow', 'POST').send(),
  };
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
export type { Gate };
