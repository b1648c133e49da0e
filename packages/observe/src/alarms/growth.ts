/** The time in which the depth must grow is divided into this many parts. */
const PARTS = 10;
/** How many parts must end with a higher least depth than the part before, of the nine that have one before. */
const MIN_RISES = 8;
/** Growth has ended when the least depth is no higher than it was this many parts before. */
const FLAT_PARTS = 3;

/**
 * Whether the depth has been growing, which a burst must not look like. So the least depth of each tenth of the time is
 * compared: a queue that drains between bursts has a least depth of 0. One tenth may be lower than the one before. If the
 * depth only wavers, so that each tenth is as often lower as higher, that has a probability of 2 %.
 */
export class Growth {
  readonly #partMs: number;
  #depth: number;
  /** The least depth of the current part. */
  #least: number;
  #partEndsMs: number;
  /** The least depths of the last parts, the oldest first. */
  readonly #leasts: number[] = [];
  #sinceMs: number | undefined;
  #from = 0;

  constructor(growingMs: number, depth: number, nowMs: number) {
    this.#partMs = growingMs / PARTS;
    this.#depth = this.#least = depth;
    this.#partEndsMs = nowMs + this.#partMs;
  }

  /** The depth when the growth began. */
  get from(): number {
    return this.#from;
  }

  /** Records a depth. */
  note(depth: number, nowMs: number): void {
    if (nowMs >= this.#partEndsMs) this.#endParts(nowMs);
    this.#depth = depth;
    if (depth < this.#least) this.#least = depth;
  }

  /** How long the depth has been growing, in milliseconds; 0 if it is not. Note the current depth first. */
  grownMs(nowMs: number): number {
    if (this.#sinceMs === undefined) {
      if (!this.#isGrowing()) return 0;
      this.#sinceMs = this.#partEndsMs - (PARTS + 1) * this.#partMs;
      this.#from = this.#leasts[0] ?? 0;
    } else if (this.#hasEnded()) {
      this.#sinceMs = undefined;
      this.#leasts.length = 0;
      return 0;
    }
    return nowMs - this.#sinceMs;
  }

  #isGrowing(): boolean {
    const leasts = this.#leasts;
    const [first = 0] = leasts;
    const last = leasts.at(-1) ?? 0;
    if (leasts.length < PARTS || this.#hasEnded() || last <= first) return false;
    let rises = 0;
    for (const [at, least] of leasts.entries()) {
      if (at === 0) continue;
      if (least === 0) return false;
      if (least > (leasts[at - 1] as number)) rises += 1;
    }
    return rises >= MIN_RISES;
  }

  #hasEnded(): boolean {
    const last = this.#leasts.at(-1) ?? 0;
    return this.#least < last / 2 || last <= (this.#leasts.at(-1 - FLAT_PARTS) ?? -1);
  }

  #endParts(nowMs: number): void {
    const passed = 1 + Math.floor((nowMs - this.#partEndsMs) / this.#partMs);
    this.#partEndsMs += passed * this.#partMs;
    for (let part = Math.min(passed, PARTS); part > 0; part -= 1) {
      this.#leasts.push(this.#least);
      // Nothing has changed the depth in the parts that passed meanwhile.
      this.#least = this.#depth;
    }
    if (this.#leasts.length > PARTS) this.#leasts.splice(0, this.#leasts.length - PARTS);
  }
}
