import { setTimeout as wait } from 'node:timers/promises';
import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import { sides, type Deliverer, type Places } from './sides.ts';

const SENDERS = 64;
/** Senders pause while so many events are not delivered: nothing is measured by how long a queue can become. */
const MAX_OPEN = 2000;

/** The orders of a side: first `open`, then `deliver`, several times, then `close`. */
export type Order =
  | { readonly open: Places; readonly name: string }
  | { readonly deliverForSeconds: number }
  | { readonly close: true };

/** The outcome. */
export interface Delivered {
  readonly events: number;
  /** Until the last one was delivered and settled. */
  readonly seconds: number;
  /** Of this process. */
  readonly processorSeconds: number;
}

const [side = ''] = process.argv.slice(2);
let deliverer: Deliverer | undefined;
let sent = 0;

async function deliver(forSeconds: number): Promise<Delivered> {
  if (deliverer === undefined) throw new Error('It is not open.');
  const opened = deliverer;
  const [begin, before, used] = [performance.now(), sent, processorSeconds()];
  const send = async (): Promise<void> => {
    while (performance.now() - begin < 1000 * forSeconds) {
      if (sent - opened.delivered() >= MAX_OPEN) await wait(1);
      else await opened.send((sent += 1));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  while (opened.delivered() < sent) await wait(1);
  return {
    events: sent - before,
    seconds: (performance.now() - begin) / 1000,
    processorSeconds: processorSeconds() - used,
  };
}

answer(async (order: Order): Promise<unknown> => {
  if ('open' in order) {
    const open = sides.get(side);
    if (open === undefined) throw new Error(`There is no side ${side}.`);
    deliverer = await open(order.open, order.name);
    return undefined;
  }
  if ('deliverForSeconds' in order) return deliver(order.deliverForSeconds);
  await deliverer?.close();
  return undefined;
});
