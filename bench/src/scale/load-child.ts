import { Pool } from 'undici';
import { answer } from '../pinned.ts';
import { percentile } from '../statistics.ts';

/** How much is offered, to whom, and for how long. */
export interface Offer {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Received {
  readonly served: number;
  readonly refused: number;
  readonly failed: number;
  readonly seconds: number;
  readonly p99Ms: number;
}

/** More than can wait, so that those who wait do not hold back the others. */
const CONNECTIONS = 200;
const TICK_MS = 2;
/** So many of the latest answers are looked at for the percentile. */
const KEPT = 100_000;

/** Offers requests evenly, whether or not those before have been answered. */
answer(async ({ port, perSecond, seconds }: Offer): Promise<Received> => {
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections: CONNECTIONS });
  const latencies: number[] = [];
  const counts = { served: 0, refused: 0, failed: 0 };
  let answered = 0;

  const offerOne = async (): Promise<void> => {
    const sentMs = performance.now();
    try {
      const { statusCode, body } = await pool.request({
        path: '/webhooks',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"id":1}',
      });
      await body.dump();
      counts[statusCode < 300 ? 'served' : 'refused'] += 1;
    } catch {
      counts.failed += 1;
    }
    latencies[answered % KEPT] = performance.now() - sentMs;
    answered += 1;
  };

  const begin = performance.now();
  let offered = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedS = Math.min(seconds, (performance.now() - begin) / 1000);
      for (; offered < elapsedS * perSecond; offered += 1) void offerOne();
      if (elapsedS < seconds) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const lasted = (performance.now() - begin) / 1000;
  await pool.close();
  return { ...counts, seconds: lasted, p99Ms: Number(percentile(latencies, 0.99).toFixed(1)) };
});
