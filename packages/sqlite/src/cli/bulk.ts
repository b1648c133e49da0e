import { setTimeout as sleep } from 'node:timers/promises';
import { PartSize, type MovedDelivery, type Portion } from '@webhook-backpressure/core';
import { isAlive } from '../file/owner-lock.ts';
import type { Tables } from './tables.ts';

/** The least time between two parts, for the receiver. */
const PAUSE_MS = 5;
const CHECK_AGAIN_MS = 500;
/** Bounds the time of a part: to delete a body, SQLite reads and writes each of its pages. */
const PART_BYTES = 8 * 1024 * 1024;
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
  readonly move: (portion: Portion) => readonly MovedDelivery[];
}

/** Deletes all deliveries, in parts between which the receiver can use the file. */
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
 * would be refused. At the mark it waits for room if a receiver has the file open.
 *
 * @param onWait - called when a wait begins.
 */
export async function putBack(
  tables: Tables,
  { total, move }: Move,
  { waitsForRoom, onWait }: { readonly waitsForRoom: boolean; readonly onWait: (moved: Moved) => void },
): Promise<Moved> {
  const size = new PartSize();
  let count = 0;
  let isWaiting = false;
  while (count < total) {
    // A single delivery is put back regardless of the mark.
    const room = total === 1 ? { count: ANY, bytes: ANY } : roomIn(tables);
    if (room.count >= 1 && room.bytes >= 1) {
      const limit = Math.min(size.count, total - count, room.count);
      const part = await movePart(size, () => move({ limit, maxBytes: room.bytes }));
      if (part === 0) break;
      count += part;
      isWaiting = false;
      continue;
    }
    if (!waitsForRoom || !hasReceiver(tables)) break;
    if (!isWaiting) onWait({ count, left: total - count });
    isWaiting = true;
    await sleep(CHECK_AGAIN_MS);
  }
  return { count, left: Math.max(0, total - count) };
}

/** Moves a part, and then pauses for as long as it took. */
async function movePart(size: PartSize, move: () => readonly MovedDelivery[]): Promise<number> {
  const startedMs = performance.now();
  const { length } = move();
  const tookMs = performance.now() - startedMs;
  size.note(tookMs);
  await sleep(Math.max(PAUSE_MS, tookMs));
  return length;
}

function roomIn({ totals }: Tables): { readonly count: number; readonly bytes: number } {
  const mark = totals.room();
  const { depth, bytes } = totals.read();
  if (mark === undefined) return { count: ANY, bytes: ANY };
  // The mark may be 0. Then one delivery at a time is put back.
  const least = depth === 0 ? 1 : 0;
  return { count: Math.max(least, mark.depth - depth), bytes: Math.max(least, mark.bytes - bytes) };
}

function hasReceiver({ connection }: Tables): boolean {
  const rows = connection.prepare('SELECT id FROM owners').all([]) as [number][];
  return rows.some(([id]) => isAlive(connection.location, id));
}
