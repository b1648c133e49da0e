import type { StoredDelivery } from '@webhook-backpressure/inbox';

/** The endpoints that have events. */
export interface Holders {
  readonly size: number;
  /** Unfinished events of an endpoint, without those that are being stored. */
  storedOf(endpoint: string): number;
  /** An event was stored. */
  stored(delivery: StoredDelivery): void;
  /** A transaction that is open has stored an event of this endpoint. */
  expected(endpoint: string): void;
}
