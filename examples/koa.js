// @ts-check
import { text } from 'node:stream/consumers';
import { dashboard } from '@webhook-backpressure/dashboard';
import { closeOnSignals, webhookBackpressure } from '@webhook-backpressure/koa';
import { collect } from '@webhook-backpressure/prometheus';
import Koa from 'koa';
import { register } from 'prom-client';

const { PORT = '3000', PAGE_PASSWORD = '' } = process.env;
const app = new Koa();
// Without a router. With one, without `path`: router.post('/webhooks', backpressure, …).
const backpressure = webhookBackpressure({ path: '/webhooks' });
app.use(backpressure);

// Metrics for Prometheus, and the live page. The page needs a secret: set PAGE_PASSWORD.
collect(backpressure.intake);
const page =
  PAGE_PASSWORD === ''
    ? undefined
    : dashboard({ intakes: { webhooks: backpressure.intake }, authorize, allowUpdate: true });
app.use(async (ctx, next) => {
  if (ctx.path === '/metrics') {
    ctx.type = register.contentType;
    ctx.body = await register.metrics();
  } else if (page !== undefined && ctx.path.startsWith('/backpressure')) {
    ctx.respond = false;
    page.node(ctx.req, ctx.res);
  } else {
    await next();
  }
});

// Body parsers come after the middleware, so that they don't read the bodies of refused deliveries.
app.use(async (ctx) => {
  if (ctx.method !== 'POST' || ctx.path !== '/webhooks') return;
  const body = await text(ctx.req);
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', ctx.state.backpressure?.waitedMs, 'ms:', body);
  ctx.status = 204;
});

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
