import {
  createAdmissionControl,
  type BackpressureInfo,
  type Intake,
  type MiddlewareOptions,
} from '@webhook-backpressure/core';
import {
  boundBody,
  nodeReader,
  RequestAdmission,
  setHeaders,
  writeRefusal,
} from '@webhook-backpressure/node';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `webhookBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure: BackpressureInfo | undefined;
  }
  interface FastifyInstance {
    /** What `webhookBackpressure` added to this scope. */
    backpressure: { readonly intake: Intake };
  }
}

/** The options of {@link webhookBackpressure}. A `handler` receives the refusal, the request and the reply. */
export type WebhookBackpressureOptions = MiddlewareOptions<
  FastifyRequest,
  [request: FastifyRequest, reply: FastifyReply]
>;

const plugin: FastifyPluginCallback<WebhookBackpressureOptions> = (fastify, options, done) => {
  const control = createAdmissionControl<FastifyRequest, [FastifyRequest, FastifyReply]>(options, {
    method: (request) => nodeReader.method(request.raw),
    identity: (request) => request.raw,
    headers: (request) => nodeReader.headers(request.raw),
    warn: nodeReader.warn,
  });
  const admission = new RequestAdmission(control);
  const { handler } = options;
  fastify.decorateRequest('backpressure', undefined);
  fastify.decorate('backpressure', { intake: control.intake });
  fastify.addHook('onRequest', async (request, reply) => {
    if (await control.skips(request)) return undefined;
    const verdict = await admission.admit(request, request.raw, reply.raw);
    if (verdict?.admitted === true) {
      request.backpressure = verdict;
      setHeaders(reply.raw, control.fields());
      return undefined;
    }
    if (verdict !== null && handler !== undefined) {
      boundBody(request.raw, reply.raw);
      setHeaders(reply.raw, control.fields(verdict));
      return handler(verdict, request, reply);
    }
    reply.hijack();
    if (verdict !== null) writeRefusal(request.raw, reply.raw, verdict, { fields: control.fields(verdict) });
    return undefined;
  });
  done();
};

/**
 * Handles at most `concurrency` deliveries concurrently, queues a limited number of others, and refuses the rest with
 * `Retry-After`. It applies to all routes of the scope in which it is registered.
 *
 * @example
 * ```ts
 * app.register(webhookBackpressure, { concurrency: 10 })
 * ```
 */
export const webhookBackpressure: FastifyPluginCallback<WebhookBackpressureOptions> = fastifyPlugin(plugin, {
  fastify: '>=4.0 <6',
  name: '@webhook-backpressure/fastify',
});

export * from '@webhook-backpressure/core';
export { closeOnSignals, processPressure } from '@webhook-backpressure/node';
export type { CloseOnSignalsOptions, ProcessPressureOptions } from '@webhook-backpressure/node';
export { readiness } from './readiness.ts';
export { webhookInbox } from './inbox.ts';
export default webhookBackpressure;
