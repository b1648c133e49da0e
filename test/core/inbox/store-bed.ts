import type { InboxStore } from '@webhook-backpressure/inbox';

/** Creates the stores of a test. */
export interface StoreBed {
  /** Another owner of the same deliveries, not opened yet. */
  store(): InboxStore | Promise<InboxStore>;
  /** Deletes the deliveries and closes all stores. */
  dispose(): void | Promise<void>;
}

/** Returns the bed of the current test. */
export type BedOf = () => StoreBed;
