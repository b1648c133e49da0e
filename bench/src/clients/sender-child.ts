import { answer } from '../pinned.ts';
import { clients } from './clients.ts';
import type { ClientName } from './setup.ts';

/** A burst of deliveries to one URL. */
export interface Burst {
  readonly url: string;
  readonly deliveries: number;
}

/** What became of it. */
export interface Sent {
  readonly delivered: number;
  /** The end of the last delivery, in seconds after the first began. */
  readonly lastS: number;
}

const deliver = clients[process.argv[2] as ClientName]();

answer(async ({ url, deliveries }: Burst): Promise<Sent> => {
  const beganMs = performance.now();
  const results = await Promise.allSettled(
    Array.from({ length: deliveries }, (_, at) => deliver(url, `msg_${String(at)}`)),
  );
  const delivered = results.filter((result) => result.status === 'fulfilled' && result.value === 200).length;
  return { delivered, lastS: (performance.now() - beganMs) / 1000 };
});
