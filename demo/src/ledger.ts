/** What the receiver's handler counts. */
export interface Ledger {
  /** Requests that reached the handler. */
  accepted: number;
  /** Requests that the handler failed. */
  failed: number;
  /** The ids that were stored: a delivery that came twice is here once. */
  readonly stored: Set<string>;
}
