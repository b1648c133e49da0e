import { setTimeout as sleep } from 'node:timers/promises';
import { PartSize, type MovedDelivery, type Portion } from '@webhook-backpressure/core';
import { isAlive } from '../file/owner-lock.ts';
import type { Inside } from './inside.ts';

/** For the receiver, between two parts, at the least. */
const PAUSE_MS = 5;
const LOOK_AGAIN_MS = 500;
/** What is removed is read and written by the byte. */
const PART_BYTES = 8 * 1024 * 1024;
const ANY = Number.MAX_SAFE_INTEGER;

/** What a command that works in parts came to. */
export interface Moved {
  readonly count: number;
  /** Of those that were there at first. */
  readonly left: number;
}

/** What is to be moved. */
export interface Move {
  /** How many there are. What is added meanwhile stays, or a delivery that dies immediately would go round and round. */
  readonly total: number;
  readonly move: (portion: Portion) => readonly MovedDelivery[];
}

/** Removes all of them, in parts: the receiver goes on between two of them. */
export async function removeAll({ total, move }: Move): Promise<Moved> {
  const size = new PartSize();
  let count = 0;
  while (count < total) {
    const part = await inTime(size, () =>
      move({ limit: Math.min(size.count, total - count), maxBytes: PART_BYTES }),
    );
    if (part === 0) break;
    count += part;
  }
  return { count, left: Math.max(0, total - count) };
}

/**
 * Puts them back in parts, as long as the receiver's inbox is below its low-water mark: above it, they would take the
 * place of what arrives. Then it waits until there is room, if there is a receiver that makes some.
 *
 * @param onWait - called when it begins to wait.
 */
export async function putBack(
  inside: Inside,
  { total, move }: Move,
  { isPatient, onWait }: { readonly isPatient: boolean; readonly onWait: (moved: Moved) => void },
): Promise<Moved> {
  const size = new PartSize();
  let count = 0;
  let isWaiting = false;
  while (count < total) {
    // Who asks for a single delivery wants just that.
    const room = total === 1 ? { count: ANY, bytes: ANY } : roomIn(inside);
    if (room.count >= 1 && room.bytes >= 1) {
      const limit = Math.min(size.count, total - count, room.count);
      const part = await inTime(size, () => move({ limit, maxBytes: room.bytes }));
      if (part === 0) break;
      count += part;
      isWaiting = false;
      continue;
    }
    if (!isPatient || !hasReceiver(inside)) break;
    if (!isWaiting) onWait({ count, left: total - count });
    isWaiting = true;
    await sleep(LOOK_AGAIN_MS);
  }
  return { count, left: Math.max(0, total - count) };
}

/** One part, and then a pause as long as it took. */
async function inTime(size: PartSize, move: () => readonly MovedDelivery[]): Promise<number> {
  const startedMs = performance.now();
  const { length } = move();
  const tookMs = performance.now() - startedMs;
  size.note(tookMs);
  await sleep(Math.max(PAUSE_MS, tookMs));
  return length;
}

function roomIn({ totals }: Inside): { readonly count: number; readonly bytes: number } {
  const mark = totals.room();
  const { depth, bytes } = totals.read();
  if (mark === undefined) return { count: ANY, bytes: ANY };
  // A mark may leave no room at all; then one delivery at a time.
  const least = depth === 0 ? 1 : 0;
  return { count: Math.max(least, mark.depth - depth), bytes: Math.max(least, mark.bytes - bytes) };
}

function hasReceiver({ connection }: Inside): boolean {
  const rows = connection.prepare('SELECT id FROM owners').all([]) as [number][];
  return rows.some(([id]) => isAlive(connection.location, id));
}
