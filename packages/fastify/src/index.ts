import type { BackpressureInfo, Intake } from '@webhook-backpressure/core';
import type { FastifyPluginCallback } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { addBackpressure, type WebhookBackpressureOptions } from './plugin.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `webhookBackpressure` found out about this delivery; undefined for a request that it skipped. */
    backpressure: BackpressureInfo | undefined;
  }
  interface FastifyInstance {
    /** The intake of `webhookBackpressure`, in the scope in which it is registered. */
    backpressure: { readonly intake: Intake };
  }
}

/**
 * Handles at most `concurrency` deliveries concurrently, queues a limited number of others, and refuses the rest with
 * `Retry-After`. It applies to the scope in which it is registered, and runs before bodies are parsed, so that queued
 * and refused deliveries have unread bodies. `fastify.backpressure.intake` is its intake.
 *
 * Await `register`, or declare the routes in a plugin that is registered later: a permit is held until the promise of a
 * handler has settled only if the route is declared when the plugin has loaded. Otherwise it is held until the handler
 * ends the response.
 *
 * @throws BackpressureError with the code of the first invalid option, when Fastify loads the plugin.
 *
 * @example
 * ```ts
 * await app.register(webhookBackpressure, { concurrency: 10 })
 * ```
 */
export const webhookBackpressure: FastifyPluginCallback<WebhookBackpressureOptions> = fastifyPlugin(
  (fastify, options, done) => {
    try {
      addBackpressure(fastify, options);
      done();
    } catch (error) {
      // Otherwise Fastify reports that the plugin did not start in time.
      done(error as Error);
    }
  },
  { fastify: '4.x || 5.x', name: '@webhook-backpressure/fastify' },
);

export { BackpressureError, createIntake } from '@webhook-backpressure/core';
export type * from '@webhook-backpressure/core';
export { known } from '@webhook-backpressure/senders';
export type * from '@webhook-backpressure/senders';
export { closeOnSignals, processPressure } from '@webhook-backpressure/node';
export type { CloseOnSignalsOptions, ProcessPressureOptions } from '@webhook-backpressure/node';
export type { WebhookBackpressureOptions } from './plugin.ts';
export { readiness } from './readiness.ts';
export default webhookBackpressure;
