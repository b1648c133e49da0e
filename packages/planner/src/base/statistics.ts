/**
 * The nearest-rank percentile: the smallest value that at least this fraction of all values does not exceed.
 * NaN without values.
 *
 * @param sorted - in ascending order.
 */
export function percentile(sorted: Float64Array, fraction: number): number {
  return sorted[Math.max(1, Math.ceil(fraction * sorted.length)) - 1] ?? NaN;
}

/** Jain's index of fairness: 1 if all values are equal, 1 ÷ n if one has everything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  // All values are 0 and therefore equal.
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}
