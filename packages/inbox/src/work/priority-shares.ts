import { PRIORITIES } from '../options/key-limits.ts';

/**
 * The share of the starts that keys of a lower priority get while others have more than there are workers for, by the index
 * of the priority: so that none waits for ever.
 */
const LEAST_SHARES = [0, 0.1, 0.01];
const LOWER = [2, 1];

/** Divides free workers among the priorities: first comes first, except for the least shares of the others. */
export class PriorityShares {
  /** How many starts of each priority are behind its least share. */
  readonly #owed: number[] = PRIORITIES.map(() => 0);

  /**
   * @param start - called with an index of {@link PRIORITIES} and the most that may start. Returns how many did.
   */
  divide(count: number, start: (rank: number, most: number) => number): void {
    let left = count;
    for (const rank of LOWER) {
      const owed = this.#owed[rank] ?? 0;
      const most = Math.min(left, Math.floor(owed));
      const started = most === 0 ? 0 : start(rank, most);
      // A share that was not used, because nothing was due, is not used later.
      this.#owed[rank] = Math.min(1, owed - started);
      left -= started;
    }
    for (const rank of PRIORITIES.keys()) {
      if (left === 0) return;
      const started = start(rank, left);
      left -= started;
      for (const lower of LOWER) if (lower > rank) this.#owe(lower, started);
    }
  }

  #owe(rank: number, starts: number): void {
    const share = LEAST_SHARES[rank] ?? 0;
    this.#owed[rank] = (this.#owed[rank] ?? 0) + (starts * share) / (1 - share);
  }
}
