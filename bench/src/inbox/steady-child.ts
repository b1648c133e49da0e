import { Pool } from 'undici';
import { answer } from '../pinned.ts';
import { percentile } from '../statistics.ts';
import { BODY, headersOf, idAt, isAcknowledged } from './sample.ts';

/** New deliveries, evenly, and until when. */
export interface Arrivals {
  readonly port: number;
  readonly perSecond: number;
  /** At most. */
  readonly seconds: number;
  /** Ends when the receiver has processed all that it had. */
  readonly whileDraining: boolean;
}

/** How long the answers took. */
export interface Answered {
  readonly accepted: number;
  readonly other: number;
  readonly p99Ms: number;
}

/** More than are ever answered concurrently, so that a slow answer delays no other delivery. */
const CONNECTIONS = 100;
const TICK_MS = 2;
const LOOK_MS = 100;

let sent = 0;

answer(async ({ port, perSecond, seconds, whileDraining }: Arrivals): Promise<Answered> => {
  const pool = new Pool(`http://127.0.0.1:${String(port)}`, { connections: CONNECTIONS });
  const latencies: number[] = [];
  let other = 0;

  const deliver = async (): Promise<void> => {
    const [id, sentMs] = [idAt((sent += 1)), performance.now()];
    const { statusCode, body } = await pool.request({
      path: '/webhooks',
      method: 'POST',
      headers: headersOf(id),
      body: BODY,
    });
    await body.dump();
    latencies.push(performance.now() - sentMs);
    if (!isAcknowledged(statusCode)) other += 1;
  };
  const isDrained = async (): Promise<boolean> => {
    const { body } = await pool.request({ path: '/depth', method: 'GET' });
    return Number(await body.text()) < perSecond;
  };

  let isOver = false;
  const looks = setInterval(() => {
    if (whileDraining)
      void isDrained().then((drained) => {
        isOver ||= drained;
      });
  }, LOOK_MS);
  const deliveries: Promise<void>[] = [];
  const begin = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedS = (performance.now() - begin) / 1000;
      isOver ||= elapsedS >= seconds;
      while (!isOver && deliveries.length < elapsedS * perSecond) deliveries.push(deliver());
      if (!isOver) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  clearInterval(looks);
  await Promise.all(deliveries);
  await pool.close();
  return { accepted: latencies.length - other, other, p99Ms: percentile(latencies, 0.99) };
});
