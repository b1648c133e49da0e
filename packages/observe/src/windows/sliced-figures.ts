import type { Percentiles, WindowFigures } from './windows.ts';

/** The length of a slice, in milliseconds. */
export const SLICE_MS = 5000;
/** The slices of each window, the current one included. */
export const SLICES = { oneMinute: 12, fiveMinutes: 60 } as const;

export type WindowName = keyof typeof SLICES;

/** What is counted. */
export const COUNTS = { arrivals: 0, refused: 1, completed: 2, failed: 3, lossRisk: 4, dead: 5 } as const;
/** The values that are measured. */
export const HISTOGRAMS = { waitMs: 0, handlingMs: 1, retryAfterSeconds: 2 } as const;

export type Count = (typeof COUNTS)[keyof typeof COUNTS];
type Histogram = (typeof HISTOGRAMS)[keyof typeof HISTOGRAMS];

/** Each bucket is 12 % wider than the one below, so the middle of a bucket differs by less than 6 % from what it holds. */
const PER_DOUBLING = 6;
/** Bucket 0 holds values below 1; the others hold 1 up to 24 h in milliseconds, and the last one everything above. */
export const BUCKETS = 160;

/** The layout of a tally: the counts, the number of values in each histogram, and the buckets of each. */
const FIRST_TOTAL = 6;
const FIRST_BUCKET = FIRST_TOTAL + 3;
const SIZE = FIRST_BUCKET + 3 * BUCKETS;

/** The positions of a tally that are not 0, each followed by its count: a few hundred bytes instead of 2 KiB. */
type PackedTally = Uint32Array;

/**
 * The figures of the last minute and the last five minutes. Time is cut into slices; what happens is added to the sums of both
 * windows, and a slice that leaves a window is subtracted from its sum. So an event costs a few additions.
 */
export class SlicedFigures {
  readonly #current = new Uint32Array(SIZE);
  readonly #sums: Readonly<Record<WindowName, Uint32Array>> = {
    oneMinute: new Uint32Array(SIZE),
    fiveMinutes: new Uint32Array(SIZE),
  };
  readonly #slices: (PackedTally | null)[] = new Array<PackedTally | null>(SLICES.fiveMinutes).fill(null);
  /** How many slices hold anything. */
  #filled = 0;
  #isTouched = false;

  count(what: Count, by = 1): void {
    this.#add(what, by);
  }

  measure(histogram: Histogram, value: number): void {
    this.#add(FIRST_TOTAL + histogram, 1);
    this.#add(FIRST_BUCKET + histogram * BUCKETS + bucketOf(value), 1);
  }

  /** Ends a slice. Each is one above the last. */
  endSlice(slice: number): void {
    if (!this.#isTouched && this.#filled === 0) return;
    if (this.#isTouched) {
      this.#slices[slice % SLICES.fiveMinutes] = packed(this.#current);
      this.#filled += 1;
      this.#current.fill(0);
      this.#isTouched = false;
    }
    this.#leave('oneMinute', slice);
    if (!this.#leave('fiveMinutes', slice)) return;
    this.#slices[(slice + 1) % SLICES.fiveMinutes] = null;
    this.#filled -= 1;
  }

  /** Forgets everything. */
  clear(): void {
    if (!this.#isTouched && this.#filled === 0) return;
    this.#isTouched = false;
    this.#filled = 0;
    this.#current.fill(0);
    this.#sums.oneMinute.fill(0);
    this.#sums.fiveMinutes.fill(0);
    this.#slices.fill(null);
  }

  /** A count in one of the windows. */
  countIn(window: WindowName, what: Count): number {
    return this.#sums[window][what] as number;
  }

  /** Percentiles of the values in one of the windows. */
  percentilesIn(window: WindowName, histogram: Histogram): Percentiles {
    return percentilesOf(this.#sums[window], histogram);
  }

  /** The mean of the values in one of the windows, as exact as the buckets are; null without values. */
  meanIn(window: WindowName, histogram: Histogram): number | null {
    const tally = this.#sums[window];
    const total = tally[FIRST_TOTAL + histogram] as number;
    if (total === 0) return null;
    let sum = 0;
    for (const [bucket, values] of bucketsOf(tally, histogram).entries()) {
      if (values > 0) sum += values * middleOf(bucket);
    }
    return sum / total;
  }

  read(window: WindowName): WindowFigures {
    return figuresOf(this.#sums[window]);
  }

  /** The figures of the slice before another: of a whole slice, before the current one. */
  readBefore(slice: number): WindowFigures {
    const tally = new Uint32Array(SIZE);
    const last = this.#slices[(slice + SLICES.fiveMinutes - 1) % SLICES.fiveMinutes] ?? [];
    for (let at = 0; at < last.length; at += 2) tally[last[at] as number] = last[at + 1] as number;
    return figuresOf(tally);
  }

  #add(position: number, by: number): void {
    change(this.#current, position, by);
    change(this.#sums.oneMinute, position, by);
    change(this.#sums.fiveMinutes, position, by);
    this.#isTouched = true;
  }

  /** Subtracts the slice that leaves a window at the end of another. Returns whether there was one. */
  #leave(window: WindowName, slice: number): boolean {
    const leaving = this.#slices[(slice + 1 - SLICES[window] + SLICES.fiveMinutes) % SLICES.fiveMinutes];
    if (leaving === undefined || leaving === null) return false;
    for (let at = 0; at < leaving.length; at += 2) {
      change(this.#sums[window], leaving[at] as number, -(leaving[at + 1] as number));
    }
    return true;
  }
}

function figuresOf(tally: Uint32Array): WindowFigures {
  const arrivals = tally[COUNTS.arrivals] as number;
  const refused = tally[COUNTS.refused] as number;
  return {
    arrivals,
    refused,
    // A dry run of an inbox may report the same delivery as refused twice.
    refusedRatio: arrivals === 0 ? 0 : Math.min(1, refused / arrivals),
    completed: tally[COUNTS.completed] as number,
    failed: tally[COUNTS.failed] as number,
    waitMs: percentilesOf(tally, HISTOGRAMS.waitMs),
    handlingMs: percentilesOf(tally, HISTOGRAMS.handlingMs),
    retryAfterSeconds: percentilesOf(tally, HISTOGRAMS.retryAfterSeconds),
  };
}

function percentilesOf(tally: Uint32Array, histogram: Histogram): Percentiles {
  const total = tally[FIRST_TOTAL + histogram] as number;
  if (total === 0) return { p50: null, p99: null };
  const buckets = bucketsOf(tally, histogram);
  return { p50: valueAt(buckets, Math.ceil(total * 0.5)), p99: valueAt(buckets, Math.ceil(total * 0.99)) };
}

function bucketsOf(tally: Uint32Array, histogram: Histogram): Uint32Array {
  const first = FIRST_BUCKET + histogram * BUCKETS;
  return tally.subarray(first, first + BUCKETS);
}

/** The bucket of a value of at least 0. */
export function bucketOf(value: number): number {
  // Not `value < 1`, so that NaN has a bucket too.
  if (!(value >= 1)) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log2(value) * PER_DOUBLING));
}

/** The value that represents those of a bucket: its geometric middle, or 0 for values below 1. */
export function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / PER_DOUBLING);
}

/** The value of the given rank, from 1. */
function valueAt(buckets: Uint32Array, rank: number): number {
  let left = rank;
  let bucket = 0;
  for (; left > (buckets[bucket] as number); bucket += 1) left -= buckets[bucket] as number;
  return middleOf(bucket);
}

function change(tally: Uint32Array, position: number, by: number): void {
  tally[position] = (tally[position] as number) + by;
}

function packed(tally: Uint32Array): PackedTally {
  const entries: number[] = [];
  for (const [position, count] of tally.entries()) if (count > 0) entries.push(position, count);
  return Uint32Array.from(entries);
}
