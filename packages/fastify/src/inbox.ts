import {
  createInbox,
  isDelivery,
  type Inbox,
  type InboxOptions,
  type InboxRequest,
  type ReceiverOptions,
} from '@webhook-backpressure/core';
import { inboxRequest, writeRefusal } from '@webhook-backpressure/node';
import type { FastifyReply, FastifyRequest } from 'fastify';

const HINT = 'Mount the inbox as the options of the route: app.post(path, webhooks).';

/** The options of a route that receives deliveries: a hook that runs before the body is parsed. */
export interface InboxRoute {
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** The inbox. */
  readonly inbox: Inbox;
}

/**
 * Creates the options of a route that verifies and stores a delivery, acknowledges it, and processes it later.
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
  return {
    inbox,
    async onRequest(request, reply) {
      if (!isDelivery(request.method)) return undefined;
      const { originalUrl: url } = request;
      const params = request.params as InboxRequest['params'];
      reply.hijack();
      const answer = await inbox.receive(
        inboxRequest(request.raw, { url, params, source: request, hint: HINT }),
      );
      if (answer !== null) writeRefusal(request.raw, reply.raw, answer);
      return undefined;
    },
    handler: (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  };
}
