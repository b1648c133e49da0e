import type { FairQueue } from './fair-queue.ts';
import type { Line, Queued } from './line.ts';

/** A queued delivery with a deadline. */
interface Expiring<T> extends Queued<T> {
  readonly expiresAtMs: number;
  /** Its sender retries after a refusal. */
  readonly isRepeated: boolean;
}

/** How many lines and deliveries one step of the timer checks at most. */
const STEP = 256;
/** Lines are counted by length, four classes to each doubling … */
const CLASSES_PER_DOUBLING = 4;
/** … from 1/256 of a turn … */
const SHORTEST_CLASS = 8 * CLASSES_PER_DOUBLING;
/** … to more than a queue can hold. */
const CLASSES = SHORTEST_CLASS + 40 * CLASSES_PER_DOUBLING;
/** A pass refuses only deliveries whose time left is below this many times the shortest of all late ones. */
const TIME_LEFT = 1.5;
/** A shorter time left is taken for this: deliveries about to expire must not hold up the others. */
const LEAST_MS = 500;

/** The pace of turns. */
export interface TurnRate {
  /** Deliveries handled per millisecond: a high estimate. */
  readonly perMs: number;
  /** What a turn at the usual cost takes now, in deliveries. */
  readonly scale: number;
  /** The part of the workers that one key may have, up to 1. */
  readonly share: number;
}

/**
 * Finds queued deliveries that cannot start before their deadline, because the drain rate has become known or has fallen
 * since they were admitted. An immediate refusal spares their senders the wait.
 *
 * Such deliveries are always at the end of a line. A delivery starts when every line has had as many turns as there are
 * deliveries before it in its own line, or is empty by then. That sum over all lines, for any length, is known from the
 * pass before: a pass goes through all lines, a few hundred in each step of the timer, and counts them by length. Where
 * the sum is not exact it is rounded down, so that no delivery is refused that would start at the given rate; the others
 * have their deadlines.
 *
 * Deliveries with the least time left are refused first, pass by pass, which gives their turns to the others.
 */
export class TooLate<T extends Expiring<T>> {
  readonly #queue: FairQueue<T>;
  #lines: IterableIterator<Line<T>> | null = null;
  /** Lines left in this pass. Lines that join later wait for the next one, or the pass might never end. */
  #left = 0;
  /** Of the lines of this pass so far: how many are in each class, and how much they hold together. */
  readonly #counts = new Float64Array(CLASSES);
  readonly #sums = new Float64Array(CLASSES);
  /** Of the pass before: how many lines are longer than the class, and how much the shorter ones hold together. */
  readonly #longer = new Float64Array(CLASSES);
  readonly #shorter = new Float64Array(CLASSES);
  readonly #same = new Float64Array(CLASSES);
  /** The shortest time left of a late delivery, in this pass and in the one before. */
  #shortestMs = Infinity;
  #shortestBeforeMs = 0;

  constructor(queue: FairQueue<T>) {
    this.#queue = queue;
  }

  /** Checks some lines, and refuses their late deliveries. */
  step(nowMs: number, rate: TurnRate, refuse: (item: T) => void): void {
    if (this.#lines === null) {
      this.#lines = this.#queue.lines();
      this.#left = this.#queue.keys;
    }
    for (let looked = 0; looked < STEP; looked += 1) {
      const next = this.#lines.next();
      if (next.done === true || this.#left <= 0) {
        this.#finishPass();
        return;
      }
      const line = next.value;
      this.#left -= 1;
      looked += this.#trim(line, nowMs, rate, STEP - looked, refuse);
      if (line.last === null) continue;
      // Deliveries that expire before their turn take none.
      const mostTurns = (Math.max(0, line.last.expiresAtMs - nowMs) * rate.perMs * rate.share) / rate.scale;
      const length = Math.min(line.work, mostTurns);
      const at = classOf(length);
      this.#counts[at] = (this.#counts[at] as number) + 1;
      this.#sums[at] = (this.#sums[at] as number) + length;
    }
  }

  /** Refuses late deliveries from the end of a line. Checks at most `most`, and returns how many it has checked. */
  #trim(line: Line<T>, nowMs: number, rate: TurnRate, most: number, refuse: (item: T) => void): number {
    const each = line.work / line.size;
    let before = line.work - each;
    let item = line.last;
    let looked = 0;
    for (; item !== null && looked < most; looked += 1) {
      const leftMs = Math.max(LEAST_MS, item.expiresAtMs - nowMs);
      if (this.#turnsBefore(before, rate.scale) <= leftMs * rate.perMs) break;
      const { ahead }: { ahead: T | null } = item;
      // A sender that never retries would lose the delivery by a refusal, and might still have it handled late.
      if (item.isRepeated) {
        this.#shortestMs = Math.min(this.#shortestMs, leftMs);
        if (leftMs > this.#shortestBeforeMs * TIME_LEFT) break;
        refuse(item);
        // A listener may have removed it.
        if (ahead !== null && ahead.line !== line) break;
      }
      before -= each;
      item = ahead;
    }
    return looked;
  }

  /** How many deliveries start, at least, before one that has this much before it in its own line. */
  #turnsBefore(length: number, scale: number): number {
    const at = classOf(length);
    const same = (this.#same[at] as number) * Math.min(length, lengthOf(at));
    const turns = (this.#shorter[at] as number) + same + (this.#longer[at] as number) * length;
    // At most all others: costs are learned, and may be outdated.
    return Math.min(this.#queue.size - 1, Math.max(length, turns) * scale);
  }

  #finishPass(): void {
    this.#lines = null;
    let longer = 0;
    for (let at = CLASSES - 1; at >= 0; at -= 1) {
      this.#longer[at] = longer;
      longer += this.#counts[at] as number;
    }
    let shorter = 0;
    for (let at = 0; at < CLASSES; at += 1) {
      this.#shorter[at] = shorter;
      shorter += this.#sums[at] as number;
    }
    this.#same.set(this.#counts);
    this.#counts.fill(0);
    this.#sums.fill(0);
    this.#shortestBeforeMs = this.#shortestMs === Infinity ? 0 : this.#shortestMs;
    this.#shortestMs = Infinity;
  }
}

function classOf(length: number): number {
  const at = Math.floor(Math.log2(length) * CLASSES_PER_DOUBLING) + SHORTEST_CLASS;
  return Math.max(0, Math.min(CLASSES - 1, at));
}

/** The shortest length of a class. */
function lengthOf(at: number): number {
  return 2 ** ((at - SHORTEST_CLASS) / CLASSES_PER_DOUBLING);
}
