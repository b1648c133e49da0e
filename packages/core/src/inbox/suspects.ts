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
  #wasFull = false;

  /** How many may be claimed now. */
  room(attempts: number): number {
    if (this.#inHand > 0) return 0;
    return attempts < LEAST_ATTEMPTS ? 1 : this.#size;
  }

  /** A claim that was asked for `room` of them has given so many. */
  claimed(room: number, count: number): void {
    if (room === 0) return;
    this.#wasFull = count >= room;
    if (count === 0) this.#size = 1;
  }

  began(): void {
    this.#inHand += 1;
  }

  /** @param isClean - its attempt was made, and the process is still there. */
  ended(isClean: boolean): void {
    this.#inHand -= 1;
    if (!isClean) this.#wasFull = false;
    if (this.#inHand > 0) return;
    this.#size = this.#wasFull ? 2 * this.#size : 1;
  }
}
