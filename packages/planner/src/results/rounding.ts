const DECIMALS = 1e6;

/** Rounds to six decimals: more would only show the order of additions. Null for NaN and Infinity. */
export function rounded(value: number): number | null {
  return Number.isFinite(value) ? Math.round(value * DECIMALS) / DECIMALS : null;
}

export function seconds(ms: number): number | null {
  return rounded(ms / 1000);
}
