import type { InboxStore } from '@webhook-backpressure/core';

/** Where a test finds stores. */
export interface StoreBed {
  /** One more owner of the same deliveries, not opened yet. */
  store(): InboxStore | Promise<InboxStore>;
  /** Throws away the deliveries and whatever was opened. */
  dispose(): void | Promise<void>;
}

/** What the cases use: the bed of the test that runs. */
export type BedOf = () => StoreBed;
