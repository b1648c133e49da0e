import fastify5, { type FastifyInstance, type LightMyRequestResponse } from 'fastify';
import fastify4 from 'fastify4';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/fastify';

/** Creates an app of the lowest and of the highest version that we support. */
export const versions: readonly { name: string; create: typeof fastify5 }[] = [
  { name: 'Fastify 4.0', create: fastify4 },
  { name: 'Fastify 5', create: fastify5 },
];

/** An app with the plugin, in which routes can be declared. */
export async function protectedApp(
  create: typeof fastify5,
  options: WebhookBackpressureOptions = {},
): Promise<FastifyInstance> {
  const app = create();
  await app.register(webhookBackpressure, options);
  return app;
}

/** Waits until a condition holds, for at most as long as the test. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a delivery without a connection. */
export async function post(app: FastifyInstance, url = '/'): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url, payload: { type: 'order.created' } });
}
