import type { FairQueue, Queued } from '../../../packages/core/src/queue/fair-queue.ts';

/** A delivery of the fair queue. */
export interface Item extends Queued<Item> {
  readonly key: string;
  readonly id: number;
}

export function item(key: string, id = 0, isUnrepeated = false): Item {
  return {
    key,
    id,
    isUnrepeated,
    load: null,
    line: null,
    ahead: null,
    behind: null,
    older: null,
    younger: null,
  };
}

/** Starts the delivery whose turn it is. */
export function take<T extends Queued<T>>(queue: FairQueue<T>): T | null {
  const next = queue.peek();
  if (next !== null) queue.start(next);
  return next;
}

/** Makes the turns of a key cost so much, as if its deliveries had been measured. */
export function price<T extends Queued<T>>(queue: FairQueue<T>, key: string, cost: number): void {
  queue.loads.start(key).cost = cost;
}
