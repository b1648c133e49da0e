/** If there are more starts by turns than the share, at most this many are offset later. */
const MOST_AHEAD = 16;

/** Limits a part of all starts to a share. */
export class StartShare {
  /** How many starts of the part are due in tenths, negated: below 0 the next one may be out of turn. */
  #balance = 0;
  readonly #tenths: number;

  /** @param tenths - the share in tenths, from 1 to 9. An integer, so that the balance stays exact. */
  constructor(tenths: number) {
    this.#tenths = tenths;
  }

  /** Whether the part had less than its share. Unused starts are not saved beyond one round. */
  get isDue(): boolean {
    return this.#balance < 0;
  }

  /** A delivery starts. */
  note(isOfPart: boolean): void {
    const own = 10 - this.#tenths;
    this.#balance = isOfPart
      ? Math.min(MOST_AHEAD * own, this.#balance + own)
      : Math.max(-this.#tenths, this.#balance - this.#tenths);
  }
}
