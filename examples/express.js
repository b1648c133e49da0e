// @ts-check
import { webhookBackpressure } from '@webhook-backpressure/express';
import { closeOnSignals } from '@webhook-backpressure/node';
import express from 'express';

const { PORT = '3000' } = process.env;
const app = express();
const backpressure = webhookBackpressure();
app.use('/webhooks', backpressure);

// Mount body parsers after the middleware, so that queued and refused requests are not read.
app.post('/webhooks', express.raw({ type: () => true }), (req, res) => {
  // Verify the signature over the raw bytes here, then process the delivery.
  console.log('waited', req.backpressure?.waitedMs, 'ms:', String(req.body));
  res.sendStatus(204);
});

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(backpressure.intake, { server });
