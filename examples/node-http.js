// @ts-check
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { dashboard } from '@webhook-backpressure/dashboard';
import { closeOnSignals, withBackpressure } from '@webhook-backpressure/node';
import { collect } from '@webhook-backpressure/prometheus';
import { register } from 'prom-client';

const { PORT = '3000', PAGE_PASSWORD = '' } = process.env;
const listener = withBackpressure(async (req, res) => {
  if (req.method === 'GET' && req.url === '/metrics') {
    res.setHeader('Content-Type', register.contentType);
    res.end(await register.metrics());
    return;
  }
  if (req.method !== 'POST' || req.url !== '/webhooks') {
    res.writeHead(404).end();
    return;
  }
  const body = await text(req);
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', req.backpressure?.waitedMs, 'ms:', body);
  res.writeHead(204).end();
});

// Metrics for Prometheus, and the live page. The page needs a secret: set PAGE_PASSWORD.
collect(listener.intake);
const page =
  PAGE_PASSWORD === ''
    ? undefined
    : dashboard({ intakes: { webhooks: listener.intake }, authorize, allowUpdate: true });

const server = createServer((req, res) => {
  if (page !== undefined && req.url?.startsWith('/backpressure')) page.node(req, res);
  else listener(req, res);
});
// A sender that sends `Expect: 100-continue` is refused before it sends its body.
server.on('checkContinue', listener);
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(listener.intake, { server });

/**
 * Who may use the live page: a browser asks for the name `operator` and the password.
 *
 * @param {Request} request
 */
function authorize({ headers }) {
  if (headers.get('authorization') === `Basic ${btoa(`operator:${PAGE_PASSWORD}`)}`) return true;
  return new Response('Unauthorized', { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
}
