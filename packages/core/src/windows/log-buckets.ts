/** Each bucket is 12 % wider than the one below, so the middle of a bucket differs by less than 6 % from what it holds. */
const PER_DOUBLING = 6;

/** Bucket 0 holds values below 1; the others hold 1 up to 24 h in milliseconds, and the last one everything above. */
export const BUCKETS = 160;

/** The bucket of a value of at least 0. */
export function bucketOf(value: number): number {
  // Not `value < 1`, so that NaN has a bucket too.
  if (!(value >= 1)) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log2(value) * PER_DOUBLING));
}

/** The value that represents those of a bucket: its geometric middle, or 0 for values below 1. */
export function middleOf(bucket: number): number {
  return MIDDLES[bucket] as number;
}

const MIDDLES = Float64Array.from({ length: BUCKETS }, (_, bucket) =>
  bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / PER_DOUBLING),
);
