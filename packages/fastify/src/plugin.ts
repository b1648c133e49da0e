import { createAdmissionControl, readableErrors, type Skip } from '@webhook-backpressure/core/middleware';
import type { MiddlewareOptions } from '@webhook-backpressure/core';
import {
  boundBody,
  nodeReader,
  RequestAdmission,
  setHeaders,
  type Verdict,
} from '@webhook-backpressure/node/request';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { followHandlers } from './follow-handlers.ts';
import { gate, sendAnswer } from './gate.ts';

/**
 * The options of {@link webhookBackpressure}. `onRefused` receives the refusal, the request and the reply. What it
 * returns is sent, as from the handler of a route.
 */
export type WebhookBackpressureOptions = MiddlewareOptions<
  FastifyRequest,
  [request: FastifyRequest, reply: FastifyReply]
>;

/** Adds the hook that decides about each request of a scope, before its body is parsed. */
export function addBackpressure(fastify: FastifyInstance, options: WebhookBackpressureOptions): void {
  const control = createAdmissionControl<FastifyRequest, [FastifyRequest, FastifyReply]>(options, {
    method: (request) => nodeReader.method(request.raw),
    identity: (request) => request.raw,
    targets: (request) => nodeReader.targets(request.raw),
    headers: (request) => nodeReader.headers(request.raw),
    // Each scope inherits from the one around it.
    isForWholeApp: () => Object.getPrototypeOf(fastify) === Object.prototype,
    warn: nodeReader.warn,
  });
  const handler = readableErrors(options.onRefused);
  const { intake } = control;
  const admission = new RequestAdmission(control);

  const settle = (
    verdict: Verdict,
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean | Promise<false> => {
    if (verdict?.admitted === true) {
      request.backpressure = verdict;
      follow(request, verdict);
      setHeaders(reply.raw, control.fields());
      return true;
    }
    const fields = verdict === null ? undefined : control.fields(verdict);
    if (verdict !== null && handler !== undefined) {
      boundBody(request.raw, reply.raw);
      setHeaders(reply.raw, fields);
      return sendPayload(reply, handler(verdict, request, reply));
    }
    sendAnswer(request, reply, verdict, fields);
    return false;
  };
  const admitUnless = (
    skips: Skip,
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean | Promise<boolean> => {
    if (skips === true) return true;
    if (skips !== false) {
      sendAnswer(request, reply, skips);
      return false;
    }
    const verdict = admission.admit(request, request.raw, reply.raw);
    return verdict instanceof Promise
      ? verdict.then((settled) => settle(settled, request, reply))
      : settle(verdict, request, reply);
  };

  // In a scope inside one that has the plugin, the request is decorated already.
  if (!fastify.hasDecorator('backpressure')) fastify.decorateRequest('backpressure', undefined);
  fastify.decorate('backpressure', { intake });
  const follow = followHandlers(fastify);
  fastify.addHook(
    'onRequest',
    gate((request, reply) => {
      const skips = control.skips(request);
      return skips instanceof Promise
        ? skips.then((skipped) => admitUnless(skipped, request, reply))
        : admitUnless(skips, request, reply);
    }),
  );
  // A shared intake is closed by the code that created it.
  if (options.intake === undefined) fastify.addHook('onClose', () => intake.close({ timeoutMs: 0 }));
}

/** Sends what a handler returns, as Fastify does with what the handler of a route returns. */
async function sendPayload(reply: FastifyReply, returned: unknown): Promise<false> {
  const payload = await returned;
  if (payload !== undefined && !reply.sent) reply.send(payload);
  return false;
}
