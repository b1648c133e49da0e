// @ts-check
import { closeOnSignals, webhookBackpressure } from '@webhook-backpressure/express';
import express from 'express';

const { PORT = '3000' } = process.env;
const app = express();
const backpressure = webhookBackpressure();
app.use('/webhooks', backpressure);

// Body parsers come after the middleware, so that they don't read the bodies of refused deliveries.
app.post('/webhooks', express.raw({ type: () => true }), (req, res) => {
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', req.backpressure?.waitedMs, 'ms:', String(req.body));
  res.sendStatus(204);
});

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(backpressure.intake, { server });
