// @ts-check
import { dashboard } from '@webhook-backpressure/dashboard';
import { closeOnSignals, webhookBackpressure } from '@webhook-backpressure/express';
import { collect } from '@webhook-backpressure/prometheus';
import express from 'express';
import { register } from 'prom-client';

const { PORT = '3000', PAGE_PASSWORD = '' } = process.env;
const app = express();
const backpressure = webhookBackpressure();
app.use('/webhooks', backpressure);

// Body parsers come after the middleware, so that they don't read the bodies of refused deliveries.
app.post('/webhooks', express.raw({ type: () => true }), (req, res) => {
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', req.backpressure?.waitedMs, 'ms:', String(req.body));
  res.sendStatus(204);
});

// Metrics for Prometheus.
collect(backpressure.intake);
app.get('/metrics', async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
});

// The live page needs a secret: set PAGE_PASSWORD.
if (PAGE_PASSWORD !== '') {
  const page = dashboard({ intakes: { webhooks: backpressure.intake }, authorize, allowUpdate: true });
  app.use('/backpressure', page.node);
}

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
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
