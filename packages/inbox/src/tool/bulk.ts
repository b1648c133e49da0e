import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { MovedDelivery, Portion } from '../store/store-admin.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import { holdTimer, systemClock } from '@webhook-backpressure/base';
import type { ToolStore } from './target.ts';

/** The least time between two parts, for the receiver. */
const PAUSE_MS = 5;
const CHECK_AGAIN_MS = 500;
const ANY = Number.MAX_SAFE_INTEGER;

/** The result of a command that works in parts. */
export interface Moved {
  readonly count: number;
  /** How many of the deliveries counted at the start were not moved. */
  readonly left: number;
}

export interface Move {
  /** Counted at the start: later deliveries are not moved, or one that fails immediately would be moved again and again. */
  readonly total: number;
  readonly move: (portion: Portion) => Awaitable<readonly MovedDelivery[]>;
}

/** Deletes all deliveries, in parts between which the receiver can use the store. */
export async function removeAll({ total, move }: Move): Promise<Moved> {
  const size = new PartSize();
  let count = 0;
  while (count < total) {
    const part = await movePart(size, () =>
      move({ limit: Math.min(size.count, total - count), maxBytes: PART_BYTES }),
    );
    if (part === 0) break;
    count += part;
  }
  return { count, left: Math.max(0, total - count) };
}

/**
 * Puts deliveries back into the queue, in parts, while the queue is below the low-water mark: above it, new deliveries
 * would be refused. At the mark it waits for room if a process has the store open.
 *
 * @param onWait - called when a wait begins.
 */
export async function putBack(
  store: ToolStore,
  { total, move }: Move,
  { waitsForRoom, onWait }: { readonly waitsForRoom: boolean; readonly onWait: (moved: Moved) => void },
): Promise<Moved> {
  const size = new PartSize();
  let count = 0;
  let isWaiting = false;
  while (count < total) {
    // A single delivery is put back regardless of the mark.
    const room = total === 1 ? { count: ANY, bytes: ANY } : await roomIn(store);
    if (room.count >= 1 && room.bytes >= 1) {
      const limit = Math.min(size.count, total - count, room.count);
      const part = await movePart(size, () => move({ limit, maxBytes: room.bytes }));
      if (part === 0) break;
      count += part;
      isWaiting = false;
      continue;
    }
    if (!waitsForRoom || !(await isInUse(store))) break;
    if (!isWaiting) onWait({ count, left: total - count });
    isWaiting = true;
    await sleep(CHECK_AGAIN_MS);
  }
  return { count, left: Math.max(0, total - count) };
}

/** Moves a part, and then pauses for as long as it took. */
async function movePart(size: PartSize, move: () => Awaitable<readonly MovedDelivery[]>): Promise<number> {
  const startedMs = systemClock.now();
  const { length } = await move();
  const tookMs = systemClock.now() - startedMs;
  size.note(tookMs);
  await sleep(Math.max(PAUSE_MS, tookMs));
  return length;
}

async function roomIn(store: ToolStore): Promise<{ readonly count: number; readonly bytes: number }> {
  const mark = await store.room();
  if (mark === undefined) return { count: ANY, bytes: ANY };
  const { depth, bytes } = await store.stats();
  // The mark may be 0. Then one delivery at a time is put back.
  const least = depth === 0 ? 1 : 0;
  return { count: Math.max(least, mark.depth - depth), bytes: Math.max(least, mark.bytes - bytes) };
}

async function isInUse(store: ToolStore): Promise<boolean> {
  return (await store.owners()).some(({ hasEnded }) => !hasEnded);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    holdTimer(systemClock.setTimeout(resolve, ms));
  });
}
