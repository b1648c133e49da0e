/** The last values of a number, in a fixed amount of memory. */
export class Ring {
  readonly #values: Float64Array;
  #next = 0;
  #count = 0;

  constructor(capacity: number) {
    this.#values = new Float64Array(capacity);
  }

  /** Adds a value; a full ring forgets its oldest one. `null` is kept as such. */
  add(value: number | null): void {
    this.#values[this.#next] = value ?? NaN;
    this.#next = (this.#next + 1) % this.#values.length;
    this.#count = Math.min(this.#count + 1, this.#values.length);
  }

  /** The newest value; undefined when there is none. */
  get last(): number | undefined {
    if (this.#count === 0) return undefined;
    return this.#values[(this.#next + this.#values.length - 1) % this.#values.length];
  }

  /** Forgets the newest value. */
  removeLast(): void {
    if (this.#count === 0) return;
    this.#next = (this.#next + this.#values.length - 1) % this.#values.length;
    this.#count -= 1;
  }

  /** The values, the oldest first. */
  read(): (number | null)[] {
    const values: (number | null)[] = [];
    const start = this.#next - this.#count + this.#values.length;
    for (let at = 0; at < this.#count; at += 1) {
      const value = this.#values[(start + at) % this.#values.length] as number;
      values.push(Number.isFinite(value) ? round(value) : null);
    }
    return values;
  }
}

/** Three decimals: more would double the size of a history, and no chart shows them. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
