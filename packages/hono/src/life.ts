import type { Admission, Permit, Refusal } from '@webhook-backpressure/core';

/** How long a request lives: the runtime knows when its sender goes, and when its response has ended. */
export interface Life {
  /** Whether it is over before it was admitted. */
  isOver(): boolean;
  /** It was admitted: if its sender goes while it waits, it leaves the queue. */
  follow(place: Admission): void;
  /** Waits for its turn, the way the runtime wants it. */
  wait(turn: Promise<Permit | Refusal>): Promise<Permit | Refusal>;
  /** It has its permit. False when its sender has gone meanwhile; the permit is released by then. */
  begin(permit: Permit): boolean;
  /** The handlers have thrown what nobody answered. */
  fail(): void;
  /** The handlers have returned: the permit is held until the body of the response has ended. */
  hold(): void;
}
