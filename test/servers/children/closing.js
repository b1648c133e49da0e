// A receiver that shuts down on a signal. Each request waits until the parent releases it.
import { createServer } from 'node:http';
import { closeOnSignals, withBackpressure } from '@webhook-backpressure/node';

const [timeoutMs, as] = process.argv.slice(2);
if (as === 'not alone') process.on('SIGTERM', () => undefined);
if (as === 'first process') {
  // The system ignores unhandled signals that PID 1 sends to itself.
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
// Reported after the decision about the request.
server.on('request', (req) => process.send?.({ asked: req.url }));
closeOnSignals(listener.intake, {
  server,
  timeoutMs: timeoutMs === undefined ? undefined : Number(timeoutMs),
  onClosed: (closed) => process.send?.({ closed }),
});
process.on('message', () => answering.shift()?.end('done'));
server.listen(0, () => process.send?.({ address: server.address() }));
