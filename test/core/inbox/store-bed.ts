import type { InboxStore } from '@webhook-backpressure/inbox';

/** A transaction of an application that is open. */
export interface ClientTransaction {
  /** What the application passes to the store. */
  readonly client: unknown;
  commit(): Promise<void>;
  rollBack(): Promise<void>;
}

/** Creates the stores of a test. */
export interface StoreBed {
  /** Another owner of the same deliveries, not opened yet. */
  store(): InboxStore | Promise<InboxStore>;
  /** Begins a transaction of the application. Absent: the store cannot use one. */
  transaction?(): Promise<ClientTransaction>;
  /** Deletes the deliveries and closes all stores. */
  dispose(): void | Promise<void>;
}

/** Returns the bed of the current test. */
export type BedOf = () => StoreBed;
