import {
  COUNTS,
  HISTOGRAMS,
  addCount,
  addPacked,
  addValue,
  createTally,
  meanOf,
  packAndClear,
  percentilesOf,
  subtractPacked,
  type Count,
  type Histogram,
  type PackedTally,
  type Tally,
} from './tally.ts';
import type { Percentiles, WindowFigures } from './windows.ts';

/** The length of a slice, in milliseconds. */
export const SLICE_MS = 5000;
/** The slices of each window, the current one included. */
export const SLICES = { oneMinute: 12, fiveMinutes: 60 } as const;

export type WindowName = keyof typeof SLICES;

/**
 * The figures of the last minute and the last five minutes. Time is cut into slices; when one ends it is added to the sums
 * of both windows, and the slice that leaves a window is subtracted. So an event costs one addition, and a read sums up
 * nothing.
 */
export class SlicedFigures {
  readonly #current: Tally = createTally();
  readonly #sums: Readonly<Record<WindowName, Tally>> = {
    oneMinute: createTally(),
    fiveMinutes: createTally(),
  };
  readonly #slices: (PackedTally | null)[] = new Array<PackedTally | null>(SLICES.fiveMinutes).fill(null);
  /** How many slices hold anything. */
  #filled = 0;
  #isTouched = false;

  count(what: Count, by = 1): void {
    addCount(this.#current, what, by);
    this.#isTouched = true;
  }

  measure(histogram: Histogram, value: number): void {
    addValue(this.#current, histogram, value);
    this.#isTouched = true;
  }

  /** Ends a slice. Each is one above the last. */
  endSlice(slice: number): void {
    if (!this.#isTouched && this.#filled === 0) return;
    if (this.#isTouched) {
      const packed = packAndClear(this.#current);
      this.#isTouched = false;
      this.#slices[slice % SLICES.fiveMinutes] = packed;
      this.#filled += 1;
      addPacked(this.#sums.oneMinute, packed);
      addPacked(this.#sums.fiveMinutes, packed);
    }
    const leavesMinute = this.#sliceBefore(slice, SLICES.oneMinute - 1);
    if (leavesMinute !== null) subtractPacked(this.#sums.oneMinute, leavesMinute);
    const leavesAll = this.#sliceBefore(slice, SLICES.fiveMinutes - 1);
    if (leavesAll === null) return;
    subtractPacked(this.#sums.fiveMinutes, leavesAll);
    this.#slices[(slice + 1) % SLICES.fiveMinutes] = null;
    this.#filled -= 1;
  }

  /** Forgets everything. */
  clear(): void {
    if (this.#isTouched) this.#current.fill(0);
    this.#isTouched = false;
    if (this.#filled === 0) return;
    this.#filled = 0;
    this.#sums.oneMinute.fill(0);
    this.#sums.fiveMinutes.fill(0);
    this.#slices.fill(null);
  }

  /** A count in one of the windows. */
  countIn(window: WindowName, what: Count): number {
    return (this.#sums[window][what] as number) + (this.#current[what] as number);
  }

  /** Percentiles of the values in one of the windows. */
  percentilesIn(window: WindowName, histogram: Histogram): Percentiles {
    return percentilesOf(this.#sums[window], this.#current, histogram);
  }

  /** The mean of the values in one of the windows; null without values. */
  meanIn(window: WindowName, histogram: Histogram): number | null {
    return meanOf(this.#sums[window], this.#current, histogram);
  }

  read(window: WindowName): WindowFigures {
    const arrivals = this.countIn(window, COUNTS.arrivals);
    const refused = this.countIn(window, COUNTS.refused);
    return {
      arrivals,
      refused,
      // A dry run of an inbox may report the same delivery as refused twice.
      refusedRatio: arrivals === 0 ? 0 : Math.min(1, refused / arrivals),
      completed: this.countIn(window, COUNTS.completed),
      failed: this.countIn(window, COUNTS.failed),
      waitMs: this.percentilesIn(window, HISTOGRAMS.waitMs),
      handlingMs: this.percentilesIn(window, HISTOGRAMS.handlingMs),
      retryAfterSeconds: this.percentilesIn(window, HISTOGRAMS.retryAfterSeconds),
    };
  }

  #sliceBefore(slice: number, by: number): PackedTally | null {
    return this.#slices[(slice - by + SLICES.fiveMinutes) % SLICES.fiveMinutes] ?? null;
  }
}
