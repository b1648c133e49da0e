import { SLICE_MS, SLICES } from './sliced-figures.ts';

/** The figures that are measured in slices. */
export interface Sliced {
  /** A slice ends. Each is one above the last. */
  endSlice(slice: number): void;
  /** As many slices have ended as the longest window has. */
  endEpoch?(): void;
  /** No slice of the longest window has anything left in it. */
  clear(): void;
}

/** Cuts time into slices, and ends them in everything that is measured. */
export class SliceClock {
  readonly #measured: readonly Sliced[];
  /** The number of the current slice, and when it began. */
  #slice = 0;
  #sliceMs: number;

  constructor(measured: readonly Sliced[], nowMs: number) {
    this.#measured = measured;
    this.#sliceMs = nowMs;
  }

  /** The number of the current slice. Call {@link advance} first. */
  get slice(): number {
    return this.#slice;
  }

  /** How long the current slice has lasted, in milliseconds. Call {@link advance} first. */
  ageMs(nowMs: number): number {
    return nowMs - this.#sliceMs;
  }

  /** Milliseconds until the current slice ends. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.#sliceMs + SLICE_MS - nowMs);
  }

  /** Ends the slices that are over. */
  advance(nowMs: number): void {
    if (nowMs - this.#sliceMs >= SLICE_MS) this.#endSlices(nowMs);
  }

  #endSlices(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#sliceMs) / SLICE_MS);
    this.#sliceMs += passed * SLICE_MS;
    if (passed >= SLICES.fiveMinutes) {
      this.#slice += passed;
      for (const one of this.#measured) one.clear();
      return;
    }
    for (const end = this.#slice + passed; this.#slice < end; this.#slice += 1) {
      for (const one of this.#measured) one.endSlice(this.#slice);
      if ((this.#slice + 1) % SLICES.fiveMinutes !== 0) continue;
      for (const one of this.#measured) one.endEpoch?.();
    }
  }
}
