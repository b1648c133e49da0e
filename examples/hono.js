// @ts-check
import { serve } from '@hono/node-server';
import { webhookBackpressure } from '@webhook-backpressure/hono';
import { closeOnSignals } from '@webhook-backpressure/hono/node';
import { Hono } from 'hono';

const { PORT = '3000' } = process.env;
const app = new Hono();
const backpressure = webhookBackpressure();
app.use('/webhooks', backpressure);

app.post('/webhooks', async (c) => {
  const body = await c.req.text();
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', c.get('backpressure')?.waitedMs, 'ms:', body);
  return c.body(null, 204);
});

// On Bun, Deno and Workers, write `export default app` instead of the rest.
const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(backpressure.intake, { server });
