// @ts-check
import { dashboard } from '@webhook-backpressure/dashboard';
import { closeOnSignals, createIntake, webhookBackpressure } from '@webhook-backpressure/fastify';
import { collect } from '@webhook-backpressure/prometheus';
import Fastify from 'fastify';
import { register } from 'prom-client';

const { PORT = '3000', PAGE_PASSWORD = '' } = process.env;
const app = Fastify();
const intake = createIntake();

// In a scope of its routes, so that the other routes of the app are not limited.
await app.register(async (webhooks) => {
  await webhooks.register(webhookBackpressure, { intake });
  // Bodies as text: signatures are computed over the exact bytes.
  webhooks.removeAllContentTypeParsers();
  webhooks.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  webhooks.post('/webhooks', async (request, reply) => {
    // Verify the signature here, then do the work.
    console.log('waited', request.backpressure?.waitedMs, 'ms:', request.body);
    return reply.code(204).send();
  });
});

// Metrics for Prometheus, and the live page. The page needs a secret: set PAGE_PASSWORD.
collect(intake);
app.get('/metrics', async (_request, reply) =>
  reply.type(register.contentType).send(await register.metrics()),
);

if (PAGE_PASSWORD !== '') {
  const page = dashboard({ intakes: { webhooks: intake }, authorize, allowUpdate: true });
  app.all('/backpressure*', {
    // Before the body is read.
    onRequest: (request, reply) => {
      reply.hijack();
      page.node(request.raw, reply.raw);
    },
    handler: () => undefined,
  });
}

await app.listen({ port: Number(PORT) });
const { port } = /** @type {import('node:net').AddressInfo} */ (app.server.address());
console.log(`http://localhost:${String(port)}/webhooks`);
closeOnSignals(intake, { server: app.server });

/**
 * Who may use the live page: a browser asks for the name `operator` and the password.
 *
 * @param {Request} request
 */
function authorize({ headers }) {
  if (headers.get('authorization') === `Basic ${btoa(`operator:${PAGE_PASSWORD}`)}`) return true;
  return new Response('Unauthorized', { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
}
