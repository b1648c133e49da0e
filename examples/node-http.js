// @ts-check
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeOnSignals, withBackpressure } from '@webhook-backpressure/node';

const { PORT = '3000' } = process.env;
const listener = withBackpressure(async (req, res) => {
  if (req.method !== 'POST' || req.url !== '/webhooks') {
    res.writeHead(404).end();
    return;
  }
  const body = await text(req);
  // Verify the signature over the raw bytes here, then do the work.
  console.log('waited', req.backpressure?.waitedMs, 'ms:', body);
  res.writeHead(204).end();
});

const server = createServer(listener);
// A sender that sends `Expect: 100-continue` is refused before it sends its body.
server.on('checkContinue', listener);
server.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals(listener.intake, { server });
