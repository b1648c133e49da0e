/** Returns uniform numbers in [0, 1). */
export type Random = () => number;

const WARM_UP_ROUNDS = 15;

/**
 * One stream of random numbers per use, all from one seed. The draws of one part of a run do not affect another part,
 * so two policies get the same arrivals and the same service times.
 */
export function stream(seed: number, use: string): Random {
  let hash = 0x811c9dc5;
  for (let i = 0; i < use.length; i += 1) hash = Math.imul(hash ^ use.charCodeAt(i), 0x01000193);
  return sfc32(seed >>> 0, Math.floor(seed / 0x1_0000_0000) >>> 0, hash >>> 0);
}

/** sfc32, the small fast counting generator of PractRand by Chris Doty-Humphrey, with three words of seed. */
function sfc32(a: number, b: number, c: number): Random {
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  for (let i = 0; i < WARM_UP_ROUNDS; i += 1) next();
  return next;
}

/** Draws an exponentially distributed number. */
export function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random());
}

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

const DECIMALS = 1e6;

/** Rounds to six decimals: more would only show the order of additions. Null for NaN and Infinity. */
export function rounded(value: number): number | null {
  return Number.isFinite(value) ? Math.round(value * DECIMALS) / DECIMALS : null;
}

export function seconds(ms: number): number | null {
  return rounded(ms / 1000);
}

/** Rounds to three decimals, for figures that people read. */
export function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
