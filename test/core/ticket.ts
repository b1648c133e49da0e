import type { Admission, Permit, Refusal, Tunable } from '@webhook-backpressure/core';

/** A deadline may be kept this much late. */
export const LATE_MS = 100;
/** What a delivery is told that is taken out. One that left is told anything. */
export const TOLD = { expired: 'wait', displaced: 'displaced', closing: 'closing', abandoned: '' } as const;

/** A delivery as its sender sees it. */
export interface Ticket {
  readonly seq: number;
  readonly key: string;
  readonly admission: Admission;
  readonly admittedMs: number;
  readonly expiresMs: number;
  /** What its permit has settled with. */
  result?: Permit | Refusal;
  overdueMs: number;
  hasLeft: boolean;
}

/** How many workers a key may have. */
export function workersPerKey(
  { maxConcurrencyPerKey: most = Infinity }: Tunable,
  concurrency: number,
): number {
  return most < 1 ? Math.max(1, Math.floor(most * concurrency)) : most;
}

/** How many workers a key has. */
export function activeOf(active: readonly Ticket[], key: string): number {
  return active.filter((one) => one.key === key).length;
}

/** A plain check: those of the test runner are too slow to be made a million times. */
export function must(holds: boolean, what: string, is: unknown, expected?: unknown): void {
  if (!holds) throw new Error(`${what}: ${String(is)}, and not ${String(expected)}`);
}
