/** An item that takes turns, with its links in the ring of items whose next turn is in the same slot of time. */
export interface Turning<L> {
  /** The virtual time of its next turn. */
  turn: number;
  previous: L;
  next: L;
}

/** A turn at the usual cost takes 1 of virtual time, and this many slots. */
const SLOTS_PER_TURN = 8;
const SLOTS = 2048;
const SLOT_MASK = SLOTS - 1;
const WORD_BITS = 32;
const WORDS = SLOTS / WORD_BITS;
/** No turn is further ahead than the slots reach. */
const SPAN = (SLOTS - 2) / SLOTS_PER_TURN;

/** The most expensive turn costs this many times the usual one, and the cheapest one this fraction of it. */
export const MAX_TURN_COST = 255;

/**
 * Whose turn is next, where turns cost differently: fair queueing by virtual time (Goyal, Vin and Cheng, "Start-time
 * fair queueing", 1996), which gives the shares of deficit round robin. Virtual time advances only when a turn is taken,
 * to the time of that turn; the line that took it has its next turn later by the cost. So cheap turns come often and
 * expensive ones seldom, in proportion.
 *
 * A round robin that visits each line until it has saved up for an expensive turn may have to pass all lines hundreds of
 * times. Here the times are in slots with a bit for each, so the next turn is found in at most 64 words, however many
 * lines there are. Within an eighth of a turn the order is that of joining.
 */
export class Turns<L extends Turning<L>> {
  /** The virtual time: that of the last turn taken. */
  now = 0;
  /** Lines that take turns. */
  size = 0;
  /** The last of the ring of each slot; the first is its `next`. */
  readonly #lasts: (L | null)[] = new Array<L | null>(SLOTS).fill(null);
  /** A bit for each slot that is not empty. */
  readonly #taken = new Int32Array(WORDS);

  /** The result of {@link first} while it is valid. */
  #first: L | null = null;

  /** Adds a line behind all others of its slot. Its `turn` is moved within the slots. */
  add(line: L): void {
    line.turn = this.within(line.turn);
    const slot = slotOf(line.turn);
    const last = this.#lasts[slot] ?? null;
    if (last === null) {
      line.previous = line.next = line;
      this.#taken[slot >> 5] = (this.#taken[slot >> 5] as number) | (1 << slot);
    } else {
      line.previous = last;
      line.next = last.next;
      last.next.previous = line;
      last.next = line;
    }
    this.#lasts[slot] = line;
    this.size += 1;
    if (this.#first !== null && line.turn < this.#first.turn) this.#first = null;
  }

  /** Removes a line, which must have the `turn` that it was added with. */
  remove(line: L): void {
    const slot = slotOf(line.turn);
    if (line === this.#first) this.#first = null;
    if (line.next === line) {
      this.#lasts[slot] = null;
      this.#taken[slot >> 5] = (this.#taken[slot >> 5] as number) & ~(1 << slot);
    } else {
      line.previous.next = line.next;
      line.next.previous = line.previous;
      if (this.#lasts[slot] === line) this.#lasts[slot] = line.previous;
      line.previous = line.next = line;
    }
    this.size -= 1;
  }

  /** The line whose turn is next, or null. */
  first(): L | null {
    if (this.#first !== null || this.size === 0) return this.#first;
    const start = slotOf(this.now);
    let word = start >> 5;
    // Slots before the current one in its word come last: they are a whole turn of the wheel away.
    let bits = (this.#taken[word] as number) & (-1 << start);
    while (bits === 0) {
      word = (word + 1) % WORDS;
      bits = this.#taken[word] as number;
    }
    const slot = (word << 5) | (31 - Math.clz32(bits & -bits));
    this.#first = (this.#lasts[slot] as L).next;
    return this.#first;
  }

  /** The time nearest to `turn` that has a slot. */
  within(turn: number): number {
    return Math.max(this.now, Math.min(turn, this.now + SPAN));
  }
}

/** How many keys have queued deliveries, and how many of these have some that are never retried. */
export interface QueuedKeys {
  readonly keys: number;
  readonly unrepeatedKeys?: number;
}

/**
 * How many deliveries start until each queued key has had the turns that it has for one turn of a key: one each, but keys
 * with deliveries that are never retried have at most half of all turns.
 *
 * @param isNew - whether the key has no queued deliveries yet.
 */
export function turnsPer(queued: QueuedKeys, isNew: boolean, isUnrepeated: boolean): number {
  const { keys, unrepeatedKeys: before = 0 } = queued;
  const all = isNew ? keys + 1 : keys;
  const unrepeated = isNew && isUnrepeated ? before + 1 : before;
  const others = all - unrepeated;
  if (others === 0 || unrepeated <= others) return all;
  return 2 * (isUnrepeated ? unrepeated : others);
}

function slotOf(turn: number): number {
  return (turn * SLOTS_PER_TURN) & SLOT_MASK;
}
