import type { FairQueue } from './fair-queue.ts';
import type { Line, Queued } from './line.ts';

/** What waits until a deadline. */
interface Expiring<T> extends Queued<T> {
  readonly expiresAtMs: number;
  /** Its sender tries again when it is refused. */
  readonly isRepeated: boolean;
}

/** So many lines and deliveries are looked at in a step of the timer, whatever waits. */
const STEP = 256;
/** Lines are counted by length, four classes to each doubling … */
const CLASSES_PER_DOUBLING = 4;
/** … from 1/256 of a turn … */
const SHORTEST_CLASS = 8 * CLASSES_PER_DOUBLING;
/** … to more than a queue can hold. */
const CLASSES = SHORTEST_CLASS + 40 * CLASSES_PER_DOUBLING;
/** In one pass only those are refused that have less than so many times the shortest time left of all that are late. */
const TIME_LEFT = 1.5;
/** Less is taken for this: what is about to expire has its deadline, and the others need not wait for it. */
const LEAST_MS = 500;

/** At which pace turns come. */
export interface TurnRate {
  /** Deliveries handled per millisecond: rather too many than too few. */
  readonly perMs: number;
  /** What a turn at the usual cost takes now, as a multiple of a delivery. */
  readonly scale: number;
  /** The part of the workers that one key may have, up to 1. */
  readonly share: number;
}

/**
 * Finds the deliveries that wait and cannot start before their own deadline: the drain rate has become known, or has
 * fallen, after they were let in. To be told so immediately spares their senders the wait.
 *
 * Who cannot is always at the end of a line. A delivery starts when every line has had as many turns as there are
 * before it in its own, or is empty by then. That sum over all lines, for any length, is known from the pass before: a
 * pass goes through all lines, a few hundred in each step of the timer, and counts them by length. Where it is not
 * known exactly it is taken for less, so that at the given rate nobody is refused who would have started: the others have
 * their deadlines.
 *
 * Those that have the least time left go first, pass by pass, since those that have more get their turns.
 */
export class TooLate<T extends Expiring<T>> {
  readonly #queue: FairQueue<T>;
  #lines: IterableIterator<Line<T>> | null = null;
  /** Lines to be gone through in this pass: others may come without end. */
  #left = 0;
  /** Of the lines gone through in this pass: how many there are of each class, and what they hold together. */
  readonly #counts = new Float64Array(CLASSES);
  readonly #sums = new Float64Array(CLASSES);
  /** Of the pass before: how many lines are longer than the class, and what the shorter ones hold together. */
  readonly #longer = new Float64Array(CLASSES);
  readonly #shorter = new Float64Array(CLASSES);
  readonly #same = new Float64Array(CLASSES);
  /** The shortest time left of those that were found late, in this pass and in the one before. */
  #shortestMs = Infinity;
  #shortestBeforeMs = 0;

  constructor(queue: FairQueue<T>) {
    this.#queue = queue;
  }

  /** Looks at some lines, and refuses who is late in them. */
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
      // What expires before its turn takes none.
      const mostTurns = (Math.max(0, line.last.expiresAtMs - nowMs) * rate.perMs * rate.share) / rate.scale;
      const length = Math.min(line.work, mostTurns);
      const at = classOf(length);
      this.#counts[at] = (this.#counts[at] as number) + 1;
      this.#sums[at] = (this.#sums[at] as number) + length;
    }
  }

  /** Refuses from the end of a line who is late, and looks at `most` at the most. Returns at how many it has looked. */
  #trim(line: Line<T>, nowMs: number, rate: TurnRate, most: number, refuse: (item: T) => void): number {
    const each = line.work / line.size;
    let before = line.work - each;
    let item = line.last;
    let looked = 0;
    for (; item !== null && looked < most; looked += 1) {
      const leftMs = Math.max(LEAST_MS, item.expiresAtMs - nowMs);
      if (this.#turnsBefore(before, rate.scale) <= leftMs * rate.perMs) break;
      const { ahead }: { ahead: T | null } = item;
      // A sender that never repeats would lose by a refusal what it may still get by waiting.
      if (item.isRepeated) {
        this.#shortestMs = Math.min(this.#shortestMs, leftMs);
        if (leftMs > this.#shortestBeforeMs * TIME_LEFT) break;
        refuse(item);
        // A listener may have done anything.
        if (ahead !== null && ahead.line !== line) break;
      }
      before -= each;
      item = ahead;
    }
    return looked;
  }

  /** How many are handled, at least, before one that has this much before it in its own line. */
  #turnsBefore(length: number, scale: number): number {
    const at = classOf(length);
    const same = (this.#same[at] as number) * Math.min(length, lengthOf(at));
    const turns = (this.#shorter[at] as number) + same + (this.#longer[at] as number) * length;
    // No more than wait: what a turn costs is learned, and what is known of it may be old.
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
