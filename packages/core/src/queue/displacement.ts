import type { Favor } from '../delivery/favor.ts';
import { holdsShare } from './equal-share.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Line, Queued } from './line.ts';

/** A queued delivery that a newer one may displace. */
interface Displaceable<T> extends Queued<T> {
  readonly favor: Favor;
  /** Its place in the queue is kept, whatever arrives. */
  readonly isKept: boolean;
}

/** Finds the queued delivery that a newer one displaces. */
export class Displacement<T extends Displaceable<T>> {
  readonly #queue: FairQueue<T>;
  /**
   * The longest lines of senders that retry, and of those that don't. A line is noted when a delivery of its key finds
   * no room, which happens all the time to the keys that fill the queue.
   */
  #repeated: Line<T> | null = null;
  #unrepeated: Line<T> | null = null;

  constructor(queue: FairQueue<T>) {
    this.#queue = queue;
  }

  /**
   * With `drop-oldest`: the oldest of all, or the oldest of the key if it holds an equal share of the queue or more, so
   * that a noisy key does not displace the others.
   */
  oldestFor(key: string): T | null {
    const queue = this.#queue;
    const line = holdsShare(key, queue) ? queue.lineOf(key) : undefined;
    return line === undefined ? queue.oldest : line.first;
  }

  /** A delivery of the key finds no room. */
  note(key: string, isRepeated: boolean): void {
    const longest = isRepeated ? this.#repeated : this.#unrepeated;
    // Most refusals are of the key that fills the queue: then the lookup is not needed.
    if (longest?.key === key && longest.size > 0) return;
    const line = this.#queue.lineOf(key);
    if (line === undefined) return;
    if (isRepeated) {
      if (line.size > (this.#repeated?.size ?? 0)) this.#repeated = line;
    } else if (line.size > (this.#unrepeated?.size ?? 0)) this.#unrepeated = line;
  }

  /**
   * What a delivery whose sender never retries displaces, since it would be lost otherwise: the youngest of a key that
   * holds an equal share of the queue or more, if its own key holds at most that with it. Null if there is none.
   *
   * A displaced delivery is retried, unless its sender never retries either. Of the others, the queue keeps at least
   * half, whatever headers are forged and however many keys are invented.
   */
  youngestFor(key: string): T | null {
    const { size, keys, unrepeated } = this.#queue;
    const line = this.#queue.lineOf(key);
    if (((line?.size ?? 0) + 1) * (line === undefined ? keys + 1 : keys) > size) return null;
    const repeated = unrepeated * 2 < size ? this.#youngestOf(this.#repeated) : null;
    // A key may have deliveries of both kinds.
    if (repeated?.favor === 'none') return repeated;
    return this.#youngestOf(this.#unrepeated);
  }

  #youngestOf(line: Line<T> | null): T | null {
    const { size, keys } = this.#queue;
    if (line === null || line.size * keys < size) return null;
    const { last } = line;
    return last?.isKept === false ? last : null;
  }
}
