import type { Clock } from '@webhook-backpressure/base';

/**
 * The next actions of the senders, by time: a binary heap in typed arrays, since millions of entries pass through it.
 * Entries with the same time keep their order of insertion.
 */
export class Agenda {
  size = 0;
  #times = new Float64Array(1024);
  #orders = new Float64Array(1024);
  #items = new Float64Array(1024);
  #order = 0;

  /** The time of the first entry; Infinity without one. */
  get nextMs(): number {
    return this.size === 0 ? Infinity : (this.#times[0] as number);
  }

  push(atMs: number, item: number): void {
    if (this.size === this.#times.length) this.#grow();
    const order = this.#order++;
    let child = this.size++;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(atMs, order, parent)) break;
      this.#move(parent, child);
      child = parent;
    }
    this.#set(child, atMs, order, item);
  }

  /** Removes and returns the first entry. The agenda must not be empty. */
  pop(): number {
    const first = this.#items[0] as number;
    const last = --this.size;
    const atMs = this.#times[last] as number;
    const order = this.#orders[last] as number;
    let parent = 0;
    for (let child = 1; child < last; child = parent * 2 + 1) {
      if (
        child + 1 < last &&
        this.#isBefore(this.#times[child + 1] as number, this.#orders[child + 1] as number, child)
      )
        child += 1;
      if (this.#isBefore(atMs, order, child)) break;
      this.#move(child, parent);
      parent = child;
    }
    this.#set(parent, atMs, order, this.#items[last] as number);
    return first;
  }

  #isBefore(atMs: number, order: number, index: number): boolean {
    const other = this.#times[index] as number;
    return atMs < other || (atMs === other && order < (this.#orders[index] as number));
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#times[from] as number, this.#orders[from] as number, this.#items[from] as number);
  }

  #set(index: number, atMs: number, order: number, item: number): void {
    this.#times[index] = atMs;
    this.#orders[index] = order;
    this.#items[index] = item;
  }

  #grow(): void {
    this.#times = doubled(this.#times);
    this.#orders = doubled(this.#orders);
    this.#items = doubled(this.#items);
  }
}

function doubled(array: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** One timer on a clock, for the next event of the simulation. */
export class Alarm {
  /** Whether the alarm has rung since it was last set. */
  hasRung = false;
  readonly #clock: Clock;
  #timer: unknown;
  #atMs = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the time of the alarm. Infinity: never. */
  set(atMs: number): void {
    this.hasRung = false;
    if (atMs === this.#atMs) return;
    if (this.#atMs !== Infinity) this.#clock.clearTimeout(this.#timer);
    this.#atMs = atMs;
    if (atMs !== Infinity) this.#timer = this.#clock.setTimeout(this.#ring, atMs - this.#clock.now());
  }

  readonly #ring = (): void => {
    this.hasRung = true;
    this.#atMs = Infinity;
  };
}

/** Of the work after an event, the first turn may only schedule the next. */
const LEAST = 2;

/**
 * Lets promises and immediates settle between two events of a run, so that all consequences of one come before the
 * next.
 */
export class Turns {
  #isActive = false;

  /** Call it for anything that may be followed by more work in a later turn. */
  note(): void {
    this.#isActive = true;
  }

  /** Resolves after a turn in which nothing happened. */
  async settle(): Promise<void> {
    for (let turn = 1; turn <= LEAST || this.#isActive; turn += 1) {
      this.#isActive = false;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
