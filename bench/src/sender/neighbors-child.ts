import { memoryStore } from '@webhook-backpressure/inbox';
import { createSender } from '@webhook-backpressure/sender';
import { setTimeout as wait } from 'node:timers/promises';
import { answer } from '../pinned.ts';

const ENDPOINTS = 100;
const PER_SECOND = 10;
const BURST = 10;

/** Sends to 100 endpoints for a time; the last two may be bad. */
export interface Neighborhood {
  readonly receiverPort: number;
  readonly seconds: number;
  readonly hasBad: boolean;
}

/** Each endpoint always has more events than its rate allows. The receiver counts what arrived. */
answer(async ({ receiverPort, seconds, hasBad }: Neighborhood): Promise<void> => {
  const sender = createSender({
    store: memoryStore(),
    allowPrivateAddresses: true,
    endpoint: (id) => ({ url: `http://127.0.0.1:${String(receiverPort)}/${id}`, secret: null }),
    defaults: { rate: { perSecond: PER_SECOND }, burst: BURST, maxInFlight: 10 },
  });
  await sender.opened;
  const ids = Array.from({ length: ENDPOINTS }, (_, at) => `ep_${String(at)}`);
  if (hasBad) ids.splice(-2, 2, 'hang', 'refuse');
  // All events are stored before the first attempt, so that sending takes nothing from the time that is measured.
  await Promise.all(ids.map((id) => sender.endpoints.pause(id)));
  const each = BURST + PER_SECOND * (seconds + 5);
  for (let at = 0; at < each; at += 1)
    await Promise.all(ids.map((endpoint) => sender.send({ endpoint, type: 'order.updated', data: at })));
  await Promise.all(ids.map((id) => sender.endpoints.resume(id)));
  await wait(seconds * 1000);
  await sender.close({ timeoutMs: 0 });
});
