import type { RawDelivery } from '../delivery/inbox-delivery.ts';

/** A function for the option `verify`. Resolves to true for a genuine delivery, and rejects otherwise. */
export type Verifier = (delivery: RawDelivery) => Promise<true>;
