import { isRecord } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';

/** A function for the option `verify`, with the id and the key that it can trust. */
export interface Verifier {
  /** Resolves to true for a genuine delivery, and rejects otherwise. */
  (delivery: RawDelivery): Promise<true>;
  /**
   * Returns the delivery id from a part of a genuine delivery that is signed, or undefined without one. The inbox asks it
   * after the option `id`, and before the headers, which are not signed.
   */
  readonly id?: ((delivery: RawDelivery) => string | undefined) | undefined;
  /**
   * The key of all deliveries without `keyGenerator`. The headers that identify a sender are not signed: under another
   * key, a captured delivery with the same id would be new.
   */
  readonly key?: string | undefined;
}

/** For senders with the delivery id in a field of their JSON object, which is signed. */
export function withIdIn(field: string, key: string, verify: Verifier): Verifier {
  const id = ({ json }: RawDelivery): string | undefined => {
    try {
      const body = json();
      const found = isRecord(body) ? body[field] : undefined;
      return typeof found === 'string' ? found : undefined;
    } catch {
      // A form, as commands of Slack are.
      return undefined;
    }
  };
  return Object.assign(verify, { id, key });
}
