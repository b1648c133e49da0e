// A receiver that shuts down when it is told to end. Every request waits until the parent lets it go on.
import { createServer } from 'node:http';
import { closeOnSignals, withBackpressure } from '@webhook-backpressure/node';

const [timeoutMs, as] = process.argv.slice(2);
if (as === 'not alone') process.on('SIGTERM', () => undefined);
if (as === 'first process') {
  // The system drops what such a process sends itself, unless it is handled.
  Object.defineProperty(process, 'pid', { value: 1 });
  process.kill = () => true;
}
/** @type {import('node:http').ServerResponse[]} */
const answering = [];

const listener = withBackpressure(
  (req, res) => {
    if (req.url === '/state') res.end(listener.intake.snapshot().state);
    else answering.push(res);
  },
  { concurrency: 1 },
);
const server = createServer(listener);
// Whoever hears of a request knows what became of it.
server.on('request', (req) => process.send?.({ asked: req.url }));
closeOnSignals(listener.intake, {
  server,
  timeoutMs: timeoutMs === undefined ? undefined : Number(timeoutMs),
  onClosed: (closed) => process.send?.({ closed }),
});
process.on('message', () => answering.shift()?.end('done'));
server.listen(0, () => process.send?.({ address: server.address() }));
