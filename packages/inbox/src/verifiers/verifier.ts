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

/**
 * Adds the id and the key of a sender that signs its id.
 *
 * @param at - where the id is: a path in the JSON object of the body, such as `event.id`, or `@` and a header.
 */
export function withIdIn(at: string, key: string, verify: Verifier): Verifier {
  const id = (delivery: RawDelivery): string | undefined => {
    const found = at.startsWith('@') ? delivery.headers[at.slice(1)] : fieldOf(delivery, at);
    return typeof found === 'string' ? found : undefined;
  };
  return Object.assign(verify, { id, key });
}

/** The value at a path in the JSON object of the body; undefined without one. */
export function fieldOf(delivery: RawDelivery, path: string): unknown {
  return path
    .split('.')
    .reduce((at: unknown, name) => (isRecord(at) ? at[name] : undefined), bodyOf(delivery));
}

/** The parsed body; undefined if it is not JSON, as commands of Slack are not. */
export function bodyOf({ json }: RawDelivery): unknown {
  try {
    return json();
  } catch {
    return undefined;
  }
}
