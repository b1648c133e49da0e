import type { Admission, Permit, Refusal, Tunable } from '@webhook-backpressure/core';

/** How late a deadline may fire. */
export const LATE_MS = 100;
/** The reason that a withdrawn delivery gets. One that left may get any. */
export const TOLD = { expired: 'wait', displaced: 'displaced', closing: 'closing', abandoned: '' } as const;

/** A delivery as its sender sees it. */
export interface Ticket {
  readonly seq: number;
  readonly key: string;
  readonly admission: Admission;
  readonly admittedMs: number;
  readonly expiresMs: number;
  /** The result of its permit. */
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

/** How many workers a key holds. */
export function activeOf(active: readonly Ticket[], key: string): number {
  return active.filter((one) => one.key === key).length;
}

/** A plain assertion: those of the test runner are too slow for a million checks. */
export function must(holds: boolean, what: string, is: unknown, expected?: unknown): void {
  if (!holds) throw new Error(`${what}: ${String(is)}, and not ${String(expected)}`);
}
