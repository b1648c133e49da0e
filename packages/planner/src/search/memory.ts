import type { Way } from './candidate.ts';

/** Of a delivery whose request is open, without its body. */
const HELD_BYTES = 1024;

/** The memory of one queued delivery. */
export function bytesPerDelivery(way: Way): number {
  return way === 'inbox' ? 0 : HELD_BYTES;
}
