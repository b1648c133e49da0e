// @ts-check
import { text } from 'node:stream/consumers';
import { closeOnSignals, webhookBackpressure } from '@webhook-backpressure/koa';
import Koa from 'koa';

const { PORT = '3000' } = process.env;
const app = new Koa();
const backpressure = webhookBackpressure();
// Without a router. With one: router.post('/webhooks', backpressure, …).
app.use(async (ctx, next) => {
  if (ctx.path === '/webhooks') await backpressure(ctx, next);
  else await next();
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
