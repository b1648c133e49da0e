// @ts-check
import { serve } from '@hono/node-server';
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/hono';
import { closeOnSignals } from '@webhook-backpressure/hono/node';
import { collect } from '@webhook-backpressure/prometheus';
import { Hono } from 'hono';
import { register } from 'prom-client';

const { PORT = '3000', PAGE_PASSWORD = '' } = process.env;
const app = new Hono();
const backpressure = webhookBackpressure();
app.use('/webhooks', backpressure);

app.post('/webhooks', async (c) => {
  const body = await c.req.text();
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', c.get('backpressure')?.waitedMs, 'ms:', body);
  return c.body(null, 204);
});

// Metrics for Prometheus, on runtimes with the APIs of Node.js.
collect(backpressure.intake);
app.get('/metrics', async (c) =>
  c.body(await register.metrics(), 200, { 'Content-Type': register.contentType }),
);

// The live page needs a secret: set PAGE_PASSWORD.
if (PAGE_PASSWORD !== '') {
  const page = dashboard({ intakes: { webhooks: backpressure.intake }, authorize, allowUpdate: true });
  app.all('/backpressure/*', (c) => page.fetch(c.req.raw));
}

// On Bun, Deno and Workers, write `export default app` instead of the rest.
const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(backpressure.intake, { server });

/**
 * Who may use the live page: a browser asks for the name `operator` and the password.
 *
 * @param {Request} request
 */
function authorize({ headers }) {
  if (headers.get('authorization') === `Basic ${btoa(`operator:${PAGE_PASSWORD}`)}`) return true;
  return new Response('Unauthorized', { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
}
