import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dashboard } from '@webhook-backpressure/dashboard';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookApp } from './app.ts';
import { openChannel } from './channel.ts';
import type { Ledger } from './ledger.ts';
import type { ReceiverOrders, ReceiverReports, ReceiverSample } from './messages.ts';
import { isFromThisMachine, PAGE_PATH } from './page.ts';
import { ConnectionPool } from './pool.ts';
import { POOL } from './setup.ts';

const SAMPLE_MS = 100;

const channel = openChannel<ReceiverOrders, ReceiverReports>();

channel.on('start', ({ guarded, secret }) => {
  const pool = new ConnectionPool(POOL);
  const ledger: Ledger = { accepted: 0, failed: 0, stored: new Set() };
  const backpressure = guarded ? webhookBackpressure() : undefined;
  const app = webhookApp(secret, pool, ledger, backpressure);
  if (backpressure !== undefined) {
    const page = dashboard({ intakes: { webhooks: backpressure.intake }, authorize: isFromThisMachine });
    app.use(PAGE_PATH, page.node);
  }

  let deepest = 0;
  const server = createServer((req, res) => {
    app(req, res);
    // A delivery is admitted within the call, so no depth is missed.
    deepest = Math.max(deepest, backpressure?.intake.snapshot().depth ?? 0);
  });
  server.listen(0, '127.0.0.1', () => {
    channel.send('listening', { port: (server.address() as AddressInfo).port });
  });

  const sample = (): ReceiverSample => {
    const { accepted, failed } = ledger;
    if (backpressure === undefined) {
      return { depth: pool.waiting, bound: null, accepted, refused: 0, failed };
    }
    const { depth, effectiveCapacity, highWater, lowWater, totals } = backpressure.intake.snapshot();
    const refused = [...Object.values(totals.refused), ...Object.values(totals.withdrawn)];
    return {
      depth,
      bound: { capacity: effectiveCapacity, highWater, lowWater },
      accepted: totals.admitted - admittedBefore,
      refused: refused.reduce((sum, count) => sum + count, 0),
      failed,
    };
  };

  let admittedBefore = 0;
  channel.on('count', () => {
    admittedBefore = backpressure?.intake.snapshot().totals.admitted ?? 0;
    ledger.accepted = 0;
    ledger.stored.clear();
    channel.send('counting', { rss: process.memoryUsage.rss() });
    setInterval(() => {
      channel.send('sample', sample());
    }, SAMPLE_MS);
  });

  channel.on('finish', () => {
    channel.send('finished', {
      sample: sample(),
      deepest: Math.max(deepest, pool.deepest),
      capacity: backpressure?.intake.snapshot().capacity ?? null,
      stored: ledger.stored.size,
      rss: process.memoryUsage.rss(),
    });
  });
});
