import type { PlannedMode } from './configuration.ts';

/** Of a delivery whose request is open, without its body. */
const HELD_BYTES = 1024;

/** The memory of one queued delivery. */
export function bytesPerDelivery(mode: PlannedMode): number {
  return mode === 'inbox' ? 0 : HELD_BYTES;
}
