import type { Percentiles } from './messages.ts';

/** By nearest rank: a value that was measured, never one in between. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (fraction: number): number | null => sorted[Math.ceil(fraction * sorted.length) - 1] ?? null;
  return { p50: rank(0.5), p99: rank(0.99) };
}
