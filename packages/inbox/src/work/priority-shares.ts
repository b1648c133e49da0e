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
   * @param ask - called with an index of {@link PRIORITIES} and the most that may start. Returns for how many there may be
   * deliveries.
   */
  divide(count: number, ask: (rank: number, most: number) => number): void {
    let left = count;
    for (const rank of LOWER) {
      const owed = this.#owed[rank] ?? 0;
      const most = Math.min(left, Math.floor(owed));
      if (most === 0) continue;
      const asked = ask(rank, most);
      // A share that is not used, because nothing is due, is not used later.
      if (asked < most) this.#owed[rank] = 1;
      left -= asked;
    }
    for (const rank of PRIORITIES.keys()) if (left > 0) left -= ask(rank, left);
  }

  /** So many deliveries of a priority were claimed: others may have claimed what was asked for. */
  started(rank: number, count: number): void {
    this.#owed[rank] = (this.#owed[rank] ?? 0) - count;
    for (const lower of LOWER) {
      const share = LEAST_SHARES[lower] ?? 0;
      if (lower > rank) this.#owed[lower] = (this.#owed[lower] ?? 0) + (count * share) / (1 - share);
    }
    // More than its share, because nothing else was due, is no debt.
    this.#owed[rank] = Math.max(0, this.#owed[rank]);
  }
}
