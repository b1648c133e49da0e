import type { OutgoingHttpHeaders } from 'node:http';
import type { InboxAnswer } from '@webhook-backpressure/inbox';
import { writeRefusal } from '@webhook-backpressure/node/request';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';

/** A hook that lets a request continue, or answers it. */
export type Gate = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
) => Promise<void> | undefined;

/** Makes a hook of a function that returns, or resolves to, whether the request continues. */
export function gate(
  decide: (request: FastifyRequest, reply: FastifyReply) => boolean | Promise<boolean>,
): Gate {
  return (request, reply, done) => {
    try {
      const continues = decide(request, reply);
      // No promise where none is needed: it would cost each request several turns of the microtask queue.
      if (typeof continues !== 'boolean') return continueIf(continues);
      if (continues) done();
      return undefined;
    } catch (error) {
      // Fastify would continue after a thrown `undefined`, but not after a rejection.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the value that was thrown
      return Promise.reject(error);
    }
  };
}

/** Fastify continues when the promise of a hook resolves, even if the sender of an unanswered request has gone. */
async function continueIf(continues: Promise<boolean>): Promise<void> {
  if (!(await continues)) await new Promise(() => undefined);
}

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
