import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { withBackpressure } from '@webhook-backpressure/node';

const intake: Intake = createIntake({ clock: manualClock() });
const listener = withBackpressure(
  (_req, res) => {
    res.end(JSON.stringify({ key: 'shop-1', typed: true, depth: listener.intake.snapshot().depth }));
  },
  { intake, keyGenerator: () => 'shop-1' },
);

const server = createServer(listener).on('checkContinue', listener);
server.listen(0);
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const answer = await fetch(`http://127.0.0.1:${String(port)}/webhooks`, { method: 'POST' });
console.log(await answer.text());
server.closeAllConnections();
server.close();
