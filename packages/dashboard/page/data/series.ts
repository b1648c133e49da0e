import type { History, Sample } from './wire.ts';

/** Fifteen minutes at one sample per second. */
export const MAX_SAMPLES = 900;

/** Samples further apart than this have a gap between them, in which the computer slept: a line would invent values. */
const MAX_LINE_MS = 5000;

type Column = (number | string | null)[];

/** The last 15 minutes of a source, as columns of equal length. */
export class Series {
  #at: number[] = [];
  #columns = new Map<string, Column>();

  /** The times of the samples, in milliseconds since 1970, the oldest first. */
  get at(): readonly number[] {
    return this.#at;
  }

  get lastAt(): number | undefined {
    return this.#at.at(-1);
  }

  /** Replaces everything by what the server has kept. */
  replace(history: History): void {
    const skipped = Math.max(0, history.at.length - MAX_SAMPLES);
    this.#at = history.at.slice(skipped);
    this.#columns = new Map();
    for (const [name, values] of Object.entries(history.series)) {
      const column = values.slice(skipped, skipped + this.#at.length);
      while (column.length < this.#at.length) column.push(null);
      this.#columns.set(name, column);
    }
    // From the end, so that the places of the gaps before stay.
    for (let index = this.#at.length - 1; index > 0; index--) {
      if ((this.#at[index] ?? 0) - (this.#at[index - 1] ?? 0) > MAX_LINE_MS) this.#addGap(index);
    }
  }

  /** Adds a sample and drops those beyond {@link MAX_SAMPLES}. One that is not newer than the last is ignored. */
  append(at: number, sample: Sample): void {
    const { lastAt } = this;
    if (lastAt !== undefined && at <= lastAt) return;
    if (lastAt !== undefined && at - lastAt > MAX_LINE_MS) this.#addGap(this.#at.length);
    const length = this.#at.push(at);
    for (const name of Object.keys(sample)) {
      if (!this.#columns.has(name)) this.#columns.set(name, Array<null>(length - 1).fill(null));
    }
    for (const [name, column] of this.#columns) column.push(sample[name] ?? null);
    const over = Math.max(0, length - MAX_SAMPLES);
    this.#at.splice(0, over);
    for (const column of this.#columns.values()) column.splice(0, over);
  }

  /** Adds a sample of unknown values before an index. */
  #addGap(index: number): void {
    this.#at.splice(index, 0, (this.#at[index - 1] ?? 0) + 1);
    for (const column of this.#columns.values()) column.splice(index, 0, null);
  }

  /** The index of the first sample within this many milliseconds before the last. */
  indexSince(spanMs: number): number {
    const from = (this.lastAt ?? 0) - spanMs;
    let index = this.#at.length;
    while (index > 0 && (this.#at[index - 1] ?? 0) >= from) index--;
    return index;
  }

  /** The numbers of a column from an index on; null where a value is unknown or the column is missing. */
  numbers(name: string, from = 0): (number | null)[] {
    const column = this.#columns.get(name);
    if (column === undefined) return Array<null>(this.#at.length - from).fill(null);
    return column.slice(from).map((value) => (typeof value === 'number' ? value : null));
  }

  /** The words of a column from an index on. */
  words(name: string, from = 0): (string | null)[] {
    const column = this.#columns.get(name) ?? [];
    return column.slice(from).map((value) => (typeof value === 'string' ? value : null));
  }

  last(name: string): number | string | null {
    return this.#columns.get(name)?.at(-1) ?? null;
  }
}
