import type { OutgoingHttpHeaders } from 'node:http';
import type { InboxAnswer } from '@webhook-backpressure/inbox';
import { writeRefusal } from '@webhook-backpressure/node/request';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Sends an answer past Fastify, which would end the connection before the sender of a large body has read the answer.
 * Headers from earlier hooks are kept, `onResponse` hooks and Fastify's log see the response, and `onSend` hooks do not.
 */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: InboxAnswer | null,
  fields?: Record<string, string>,
): void {
  // A timeout of Fastify has answered.
  if (reply.sent) return;
  if (answer !== null) {
    for (const [name, value] of Object.entries(reply.getHeaders() as OutgoingHttpHeaders)) {
      if (value !== undefined && !reply.raw.headersSent) reply.raw.setHeader(name, value);
    }
    // May throw: a `handshake` of an inbox may return invalid headers.
    writeRefusal(request.raw, reply.raw, answer, { fields });
  }
  reply.hijack();
}
