import type { ClaimedDelivery, ClaimRef } from '@webhook-backpressure/inbox';
import { type Leased, storedBytes } from '@webhook-backpressure/inbox/store';
import type { Destination } from './destination.ts';

/** A claimed event, until its result is stored. */
export class Claim implements Leased {
  readonly destination: Destination;
  readonly event: ClaimedDelivery;
  readonly ref: ClaimRef;
  readonly bytes: number;
  state: 'held' | 'settling' | 'over' = 'held';

  constructor(destination: Destination, event: ClaimedDelivery) {
    const { key, id, attempt } = event;
    this.destination = destination;
    this.event = event;
    this.ref = { key, id, attempt };
    this.bytes = storedBytes(event);
  }
}
