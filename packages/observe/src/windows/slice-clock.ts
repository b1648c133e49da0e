import { SLICE_MS, SLICES } from './sliced-figures.ts';

/** The figures that are measured in slices. */
interface Sliced {
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
  #slice = 0;
  #beganMs: number;

  constructor(measured: readonly Sliced[], nowMs: number) {
    this.#measured = measured;
    this.#beganMs = nowMs;
  }

  /** The number of the current slice. Call {@link advance} first. */
  get slice(): number {
    return this.#slice;
  }

  /** How long the current slice has lasted, in milliseconds. Call {@link advance} first. */
  ageMs(nowMs: number): number {
    return nowMs - this.#beganMs;
  }

  /** Milliseconds until the current slice ends. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.#beganMs + SLICE_MS - nowMs);
  }

  /** Ends the slices that are over. */
  advance(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#beganMs) / SLICE_MS);
    if (passed <= 0) return;
    this.#beganMs += passed * SLICE_MS;
    if (passed >= SLICES.fiveMinutes) {
      this.#slice += passed;
      for (const one of this.#measured) one.clear();
      return;
    }
    for (const end = this.#slice + passed; this.#slice < end; this.#slice += 1) {
      const isLast = (this.#slice + 1) % SLICES.fiveMinutes === 0;
      for (const one of this.#measured) {
        one.endSlice(this.#slice);
        if (isLast) one.endEpoch?.();
      }
    }
  }
}
