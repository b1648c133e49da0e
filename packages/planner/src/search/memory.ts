import type { PlannedMode } from './configuration.ts';

/**
 * By this a process grows for a request that waits with its connection in front of node:http, besides its body. Measured
 * by test/simulation/src/memory-cli.ts, on Node 20.20 and Linux, 2026-11-22. For a delivery that an inbox has stored in a
 * file, the file grows by 1.2 kB besides the body, and the process does not.
 */
const HELD_BYTES = 22_000;

/** The memory of one queued delivery. */
export function bytesPerDelivery(mode: PlannedMode): number {
  return mode === 'inbox' ? 0 : HELD_BYTES;
}
