import type { Delivery } from './delivery.ts';

/** A delivery that arrives. */
export interface Arrival {
  readonly delivery: Delivery;
  /** The share of the queue that it counts against. */
  readonly key: string;
  /** The time of the intake's clock, in milliseconds. */
  readonly nowMs: number;
}
