/** The booked retries are shown in steps of this many seconds … */
const STEP_S = 10;
/** … for this many steps: 15 minutes. */
const STEPS = 90;
const NONE_AHEAD: readonly number[] = Object.freeze(new Array<number>(STEPS).fill(0));

/** How many retries are booked for each second to come: for snapshots, and to know whether a burst goes on. */
export class BookedSeconds {
  readonly #perSecond = new Map<number, number>();
  #second = 0;
  #total = 0;

  /** The retries that are not due yet, as of the last {@link advance}. */
  get total(): number {
    return this.#total;
  }

  /** Counts a retry that is expected then. */
  add(atMs: number): void {
    const second = Math.floor(atMs / 1000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
    this.#total += 1;
  }

  /** Leaves out the seconds that have passed. */
  advance(nowMs: number): void {
    const from = this.#second;
    const to = (this.#second = Math.floor(nowMs / 1000));
    if (this.#total === 0) return;
    // After a long pause there are fewer seconds with retries than seconds.
    const passed = to - from > this.#perSecond.size ? this.#perSecond.keys() : seconds(from, to);
    for (const second of passed) {
      if (second >= to) continue;
      this.#total -= this.#perSecond.get(second) ?? 0;
      this.#perSecond.delete(second);
    }
  }

  /** The retries in each 10 s of the next 15 minutes; the first 10 s count the current second too. */
  ahead(): readonly number[] {
    if (this.#total === 0) return NONE_AHEAD;
    const counts = NONE_AHEAD.slice();
    for (let s = 0; s <= STEPS * STEP_S; s += 1) {
      const step = Math.max(0, Math.ceil(s / STEP_S) - 1);
      counts[step] = (counts[step] ?? 0) + (this.#perSecond.get(this.#second + s) ?? 0);
    }
    return counts;
  }
}

function* seconds(from: number, to: number): IterableIterator<number> {
  for (let second = from; second < to; second += 1) yield second;
}
