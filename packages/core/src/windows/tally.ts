import { BUCKETS, bucketOf, middleOf } from './log-buckets.ts';
import type { Percentiles } from './windows.ts';

/** The counts of a tally. */
export const COUNTS = { arrivals: 0, refused: 1, completed: 2, failed: 3, lossRisk: 4, dead: 5 } as const;
/** The histograms of a tally. */
export const HISTOGRAMS = { waitMs: 0, handlingMs: 1, retryAfterSeconds: 2 } as const;

export type Count = (typeof COUNTS)[keyof typeof COUNTS];
export type Histogram = (typeof HISTOGRAMS)[keyof typeof HISTOGRAMS];

/** Buckets are also summed in groups of this many, so that a percentile is found in a few steps. */
const GROUP_BITS = 3;
const GROUPS = BUCKETS >> GROUP_BITS;
const HISTOGRAM_COUNT = 3;

/** The layout of a tally: counts, the number of values in each histogram, all buckets, all groups. */
const FIRST_TOTAL = 6;
const FIRST_BUCKET = FIRST_TOTAL + HISTOGRAM_COUNT;
const FIRST_GROUP = FIRST_BUCKET + HISTOGRAM_COUNT * BUCKETS;
const SIZE = FIRST_GROUP + HISTOGRAM_COUNT * GROUPS;

/** Counts and histograms in one block of memory. */
export type Tally = Uint32Array;

/** Nonzero positions of a tally, each with its count in one number: a slice takes a few hundred bytes instead of 2 KiB. */
export type PackedTally = Uint32Array;

const POSITION_SHIFT = 22;
const MOST_PACKED = 2 ** POSITION_SHIFT - 1;
const scratch = new Uint32Array(2 * FIRST_GROUP);

const NO_VALUES: Percentiles = Object.freeze({ p50: null, p99: null });

export function createTally(): Tally {
  return new Uint32Array(SIZE);
}

export function addCount(tally: Tally, count: Count, by: number): void {
  tally[count] = (tally[count] as number) + by;
}

export function addValue(tally: Tally, histogram: Histogram, value: number): void {
  const position = histogram * BUCKETS + bucketOf(value);
  const total = FIRST_TOTAL + histogram;
  const group = FIRST_GROUP + (position >> GROUP_BITS);
  tally[total] = (tally[total] as number) + 1;
  tally[FIRST_BUCKET + position] = (tally[FIRST_BUCKET + position] as number) + 1;
  tally[group] = (tally[group] as number) + 1;
}

/** Packs a tally and clears it. */
export function packAndClear(tally: Tally): PackedTally {
  let length = 0;
  for (let position = 0; position < FIRST_GROUP; position += 1) {
    let count = tally[position] as number;
    while (count > 0) {
      const part = Math.min(count, MOST_PACKED);
      scratch[length++] = position * 2 ** POSITION_SHIFT + part;
      count -= part;
    }
  }
  tally.fill(0);
  return scratch.slice(0, length);
}

export function addPacked(tally: Tally, packed: PackedTally): void {
  for (const entry of packed) change(tally, entry >>> POSITION_SHIFT, entry & MOST_PACKED);
}

export function subtractPacked(tally: Tally, packed: PackedTally): void {
  for (const entry of packed) change(tally, entry >>> POSITION_SHIFT, -(entry & MOST_PACKED));
}

function change(tally: Tally, position: number, by: number): void {
  tally[position] = (tally[position] as number) + by;
  if (position < FIRST_BUCKET) return;
  const group = FIRST_GROUP + ((position - FIRST_BUCKET) >> GROUP_BITS);
  tally[group] = (tally[group] as number) + by;
}

/** The percentiles of the values in two tallies together. */
export function percentilesOf(one: Tally, other: Tally, histogram: Histogram): Percentiles {
  const total = sumAt(one, other, FIRST_TOTAL + histogram);
  if (total === 0) return NO_VALUES;
  const rank99 = Math.ceil(total * 0.99);
  const rank50 = Math.ceil(total * 0.5);
  return { p50: valueAt(one, other, histogram, rank50), p99: valueAt(one, other, histogram, rank99) };
}

/** The mean of the values in two tallies together, as exact as the buckets are; null without values. */
export function meanOf(one: Tally, other: Tally, histogram: Histogram): number | null {
  const total = sumAt(one, other, FIRST_TOTAL + histogram);
  if (total === 0) return null;
  const first = FIRST_BUCKET + histogram * BUCKETS;
  let sum = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const values = sumAt(one, other, first + bucket);
    if (values > 0) sum += values * middleOf(bucket);
  }
  return sum / total;
}

/** The value of the given rank, from 1. */
function valueAt(one: Tally, other: Tally, histogram: Histogram, rank: number): number {
  let left = rank;
  let group = FIRST_GROUP + histogram * GROUPS;
  for (let here = sumAt(one, other, group); here < left; here = sumAt(one, other, group)) {
    left -= here;
    group += 1;
  }
  let position = FIRST_BUCKET + ((group - FIRST_GROUP) << GROUP_BITS);
  for (let here = sumAt(one, other, position); here < left; here = sumAt(one, other, position)) {
    left -= here;
    position += 1;
  }
  return middleOf(position - FIRST_BUCKET - histogram * BUCKETS);
}

function sumAt(one: Tally, other: Tally, position: number): number {
  return (one[position] as number) + (other[position] as number);
}
