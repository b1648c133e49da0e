import type { Attributes, HistogramSample } from './metric.ts';

/** Counts values in buckets. */
export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** @param bounds - the inclusive upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  /** A copy that does not change. */
  read(attributes: Attributes): HistogramSample {
    return { attributes, counts: [...this.#counts], sum: this.#sum, count: this.#count };
  }
}
