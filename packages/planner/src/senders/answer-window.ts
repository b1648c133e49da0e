const BINS = 600;

/** Counts the answers and the failures of the last `windowMs`, to within a bin of 1/600 of it. */
export class AnswerWindow {
  answers = 0;
  failures = 0;
  readonly #binMs: number;
  readonly #answers = new Uint32Array(BINS);
  readonly #failures = new Uint32Array(BINS);
  /** The number of the newest bin, from the beginning of the run. */
  #bin = 0;

  constructor(windowMs: number) {
    this.#binMs = windowMs / BINS;
  }

  add(isFailure: boolean, nowMs: number): void {
    const bin = Math.floor(nowMs / this.#binMs);
    for (let passed = Math.min(BINS, bin - this.#bin); passed > 0; passed -= 1) this.#empty(bin - passed + 1);
    this.#bin = bin;
    const slot = bin % BINS;
    this.#answers[slot] = (this.#answers[slot] as number) + 1;
    this.answers += 1;
    if (!isFailure) return;
    this.#failures[slot] = (this.#failures[slot] as number) + 1;
    this.failures += 1;
  }

  clear(): void {
    this.#answers.fill(0);
    this.#failures.fill(0);
    this.answers = 0;
    this.failures = 0;
  }

  #empty(bin: number): void {
    const slot = bin % BINS;
    this.answers -= this.#answers[slot] as number;
    this.failures -= this.#failures[slot] as number;
    this.#answers[slot] = 0;
    this.#failures[slot] = 0;
  }
}
