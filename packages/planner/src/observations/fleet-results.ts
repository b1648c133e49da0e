/** What was seen of the receivers of a fleet. */
export interface FleetResults {
  /** Of the retries that returned in their booked second, the part that was admitted; null without any. */
  readonly promisesKept: number | null;
  /** The highest sum of the receivers' concurrency ÷ the limit of the fleet. */
  readonly peakShares: number;
  /** The longest time for which that sum was above the limit, in seconds. */
  readonly overS: number;
  /** Requests, and what became of them, by receiver. */
  readonly perReceiver: readonly {
    readonly attempts: number;
    readonly refused: number;
    readonly delivered: number;
  }[];
}
