/** The part of a second that one batch may use. */
const BATCH_S = 0.2;

/** Keeps the deliveries that are moved below a rate. */
export class MovePace {
  readonly #perSecond: number;
  readonly #now: () => number;
  #nextMs: number;

  /** @param perSecond - undefined for no limit. */
  constructor(perSecond: number | undefined, now: () => number) {
    this.#perSecond = perSecond ?? Infinity;
    this.#now = now;
    this.#nextMs = now();
  }

  /** The most deliveries of the next batch. */
  get most(): number {
    return Math.max(1, Math.floor(this.#perSecond * BATCH_S));
  }

  /** How long the next batch has to wait. */
  get waitMs(): number {
    return Math.max(0, this.#nextMs - this.#now());
  }

  note(moved: number): void {
    this.#nextMs = Math.max(this.#nextMs, this.#now()) + (moved * 1000) / this.#perSecond;
  }
}
