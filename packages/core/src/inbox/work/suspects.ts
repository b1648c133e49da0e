/** With fewer attempts than this an innocent delivery could not spare the one that a second stranding costs it. */
const LEAST_ATTEMPTS = 3;

/**
 * How many of those that were in hand when a process died may run side by side. One of them may have killed it: so first
 * one runs, and after each group that the process has survived, a group twice as large. If it dies again, only that group
 * is under suspicion, and a store hands out one at a time of those that were stranded more than once.
 */
export class Suspects {
  #size = 1;
  #inHand = 0;
  /** How many the group has, with those that have ended. */
  #count = 0;
  /** More may join it: none has ended, and there may be more. */
  #isFilling = false;
  #isClean = true;

  /** How many may be claimed now. */
  room(attempts: number): number {
    const size = attempts < LEAST_ATTEMPTS ? 1 : this.#size;
    if (this.#inHand === 0) return size;
    return this.#isFilling ? Math.max(0, size - this.#count) : 0;
  }

  /** A claim that was asked for `room` of them has given so many, which have begun. */
  claimed(room: number, count: number): void {
    if (count >= room) return;
    this.#isFilling = false;
    if (this.#inHand === 0) this.#size = 1;
  }

  began(): void {
    if (this.#inHand === 0) {
      this.#count = 0;
      this.#isFilling = true;
      this.#isClean = true;
    }
    this.#inHand += 1;
    this.#count += 1;
  }

  /** @param isClean - its attempt was made, and the process is still there. */
  ended(isClean: boolean): void {
    this.#inHand -= 1;
    this.#isFilling = false;
    if (!isClean) this.#isClean = false;
    if (this.#inHand > 0) return;
    this.#size = this.#isClean && this.#count >= this.#size ? 2 * this.#size : 1;
  }
}
