import type { RawDelivery } from '../inbox/delivery/inbox-delivery.ts';

/** A function for the option `verify`: resolves with true for a genuine delivery, and rejects for any other. */
export type Verifier = (delivery: RawDelivery) => Promise<true>;
