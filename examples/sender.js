// @ts-check
import { createServer } from 'node:http';
import { collect } from '@webhook-backpressure/prometheus';
import { createSender } from '@webhook-backpressure/sender';
import { logEvents } from '@webhook-backpressure/observe';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { register } from 'prom-client';

const { PORT = '3000', OUTBOX = 'outbox.db', ENDPOINT = 'http://localhost:4000/webhooks' } = process.env;

const sender = createSender({
  store: sqliteStore({ path: OUTBOX }),
  // Your table of customers: where an endpoint is, and how fast it may be called. Null for an unknown one.
  endpoint: (id) =>
    id === 'customer-7'
      ? {
          url: ENDPOINT,
          secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
          rate: { perSecond: 10 },
          maxInFlight: 10,
        }
      : null,
  // Only because the endpoint of this example is on this machine.
  allowPrivateAddresses: true,
});
logEvents(sender, console);
collect(sender);

// Your service: a request that changes an order sends an event.
const server = createServer((req, res) => {
  if (req.url === '/metrics') {
    void register.metrics().then((text) => res.setHeader('content-type', register.contentType).end(text));
    return;
  }
  sender.send({ endpoint: 'customer-7', type: 'order.updated', data: { path: req.url ?? '' } }).then(
    (result) => res.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(result)),
    // The store failed, or the sender is closing: nothing was promised.
    () => res.writeHead(503).end(),
  );
});
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/orders/1`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    // Lets requests end. Stored events wait for the next start.
    void sender.close({ timeoutMs: 10_000 }).then(() => process.exit());
  });
}
