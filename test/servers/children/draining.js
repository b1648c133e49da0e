// A receiver with two intakes on two servers. It responds immediately, except to /hold, which the parent releases.
import { createServer } from 'node:http';
import { createServer as createServer2 } from 'node:http2';
import { closeOnSignals, readiness, withBackpressure } from '@webhook-backpressure/node';

const words = process.argv.slice(2);
const [isProbed, isHttp2, isTwoCalls] = ['probed', 'http2', 'two calls'].map((word) => words.includes(word));
const delay = words.find((word) => /^\d+$/.test(word));
const drainDelayMs = delay === undefined ? undefined : Number(delay);

/** @type {import('node:http').ServerResponse[]} */
const held = [];

function receiver() {
  const listener = withBackpressure((req, res) => {
    if (req.url === '/ready' && isProbed) probe(req, res);
    else if (req.url === '/hold') held.push(res);
    else if (req.url === '/state') res.end(listener.intake.snapshot().state);
    else res.end('done');
    process.send?.({ asked: req.url });
  });
  // The compatibility API of http2 has the same requests and responses.
  const http2 = /** @type {import('node:http2').Http2Server} */ (
    createServer2(/** @type {any} */ (listener))
  );
  return { intake: listener.intake, server: isHttp2 ? http2 : createServer(listener) };
}

const first = receiver();
const second = receiver();
const intakes = [first.intake, second.intake];
const servers = [first.server, second.server];
/** @type {(req: any, res: any) => void} */
const probe = isProbed ? readiness(intakes) : () => undefined;

/** @param {import('@webhook-backpressure/core').CloseReport} closed */
const onClosed = (closed) => process.send?.({ closed });
if (isTwoCalls) {
  for (const { intake, server } of [first, second])
    closeOnSignals(intake, { server, drainDelayMs, onClosed });
} else {
  closeOnSignals(intakes, { server: servers, drainDelayMs, onClosed });
}

process.on('message', () => held.shift()?.end('done'));
for (const server of servers) {
  server.listen(0, () => {
    if (servers.some(({ listening }) => !listening)) return;
    process.send?.({ address: first.server.address(), other: second.server.address() });
  });
}
