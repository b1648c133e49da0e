import { BusiestNames } from './busiest-names.ts';
import { SliceClock } from './slice-clock.ts';
import { SLICE_MS, SLICES, SlicedFigures, type WindowName } from './sliced-figures.ts';
import { COUNTS, HISTOGRAMS, type Count, type Histogram } from './tally.ts';
import type { Window, Windows } from './windows.ts';

/** Measures the windows: of all deliveries, and of the busiest keys and senders. Every call is O(1). */
export class WindowMeter {
  readonly #all = new SlicedFigures();
  readonly #keys = new BusiestNames();
  readonly #senders = new BusiestNames();
  readonly #slices: SliceClock;
  readonly #startedMs: number;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
    this.#slices = new SliceClock([this.#all, this.#keys, this.#senders], nowMs);
  }

  /** How many keys and senders have figures. */
  get size(): number {
    return this.#keys.size + this.#senders.size;
  }

  /** Milliseconds until the current slice ends. */
  leftMs(nowMs: number): number {
    return this.#slices.leftMs(nowMs);
  }

  arrived(key: string, sender: string | undefined, nowMs: number): void {
    this.advance(nowMs);
    this.#all.count(COUNTS.arrivals);
    this.#keys.arrived(key).count(COUNTS.arrivals);
    if (sender !== undefined) this.#senders.arrived(sender).count(COUNTS.arrivals);
  }

  refused(key: string, sender: string | undefined, retryAfterSeconds: number, nowMs: number): void {
    this.advance(nowMs);
    this.#count(COUNTS.refused, key, sender);
    this.#measure(HISTOGRAMS.retryAfterSeconds, retryAfterSeconds, key, sender);
  }

  started(key: string, sender: string | undefined, waitedMs: number, nowMs: number): void {
    this.advance(nowMs);
    this.#measure(HISTOGRAMS.waitMs, waitedMs, key, sender);
  }

  /** @param tookMs - undefined if the handler was not called. */
  ended(
    key: string,
    sender: string | undefined,
    isSuccess: boolean,
    tookMs: number | undefined,
    nowMs: number,
  ): void {
    this.advance(nowMs);
    this.#count(isSuccess ? COUNTS.completed : COUNTS.failed, key, sender);
    if (tookMs !== undefined) this.#measure(HISTOGRAMS.handlingMs, tookMs, key, sender);
  }

  /** A delivery that is not repeated was refused, or one became a dead letter. */
  lost(what: 'lossRisk' | 'dead', nowMs: number): void {
    this.advance(nowMs);
    this.#all.count(COUNTS[what]);
  }

  /** Ends the slices that are over. */
  advance(nowMs: number): void {
    this.#slices.advance(nowMs);
  }

  /** A count of the last five minutes. Call {@link advance} first. */
  countOfAll(what: keyof typeof COUNTS): number {
    return this.#all.countIn('fiveMinutes', COUNTS[what]);
  }

  read(nowMs: number): Windows {
    this.advance(nowMs);
    return { oneMinute: this.#read('oneMinute', nowMs), fiveMinutes: this.#read('fiveMinutes', nowMs) };
  }

  #read(window: WindowName, nowMs: number): Window {
    const coveredMs = (SLICES[window] - 1) * SLICE_MS + this.#slices.ageMs(nowMs);
    return {
      seconds: Math.min(coveredMs, nowMs - this.#startedMs) / 1000,
      all: this.#all.read(window),
      keys: this.#keys.read(window),
      senders: this.#senders.read(window),
    };
  }

  #count(what: Count, key: string, sender: string | undefined): void {
    this.#all.count(what);
    this.#keys.find(key)?.count(what);
    if (sender !== undefined) this.#senders.find(sender)?.count(what);
  }

  #measure(histogram: Histogram, value: number, key: string, sender: string | undefined): void {
    this.#all.measure(histogram, value);
    this.#keys.find(key)?.measure(histogram, value);
    if (sender !== undefined) this.#senders.find(sender)?.measure(histogram, value);
  }
}
