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
