/** A window is counted in this many bins, and one more, so that no failure is forgotten before the sender forgets it. */
const BINS = 12;

/** The recent answers to one sender: how many there were within its window, and how many of them were failures. */
export class FailureWindow {
  answers = 0;
  failures = 0;
  readonly #binMs: number;
  readonly #answers: number[] = zeros();
  readonly #failures: number[] = zeros();
  #bin = 0;

  /** @param windowS - in seconds, > 0. */
  constructor(windowS: number) {
    this.#binMs = (windowS * 1000) / BINS;
  }

  note(isFailure: boolean, nowMs: number): void {
    this.advance(nowMs);
    const slot = this.#bin % this.#answers.length;
    this.answers += 1;
    this.#answers[slot] = (this.#answers[slot] as number) + 1;
    if (!isFailure) return;
    this.failures += 1;
    this.#failures[slot] = (this.#failures[slot] as number) + 1;
  }

  /** Forgets failures that are older than the window. */
  advance(nowMs: number): void {
    const bin = Math.floor(nowMs / this.#binMs);
    const bins = this.#answers.length;
    for (let passed = Math.min(bins, bin - this.#bin); passed > 0; passed -= 1) {
      const slot = (bin - passed + 1) % bins;
      this.answers -= this.#answers[slot] as number;
      this.failures -= this.#failures[slot] as number;
      this.#answers[slot] = this.#failures[slot] = 0;
    }
    this.#bin = bin;
  }
}

function zeros(): number[] {
  return new Array<number>(BINS + 1).fill(0);
}
