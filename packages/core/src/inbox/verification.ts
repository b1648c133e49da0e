import { show } from '../errors.ts';
import type { RawDelivery } from './inbox-delivery.ts';
import type { InboxOptions } from './inbox-options.ts';
import { messageOf } from './store-health.ts';

/** Why a delivery is not let in. */
export interface Doubt {
  /** A `verify` that is broken must not look like a forger. */
  readonly error: string;
  /** It could not be told whether the delivery is genuine: its sender is to try again. */
  readonly isUndecided: boolean;
}

/** What `verify` has against a delivery, if anything. */
export async function doubtOf(
  verify: Exclude<InboxOptions['verify'], false>,
  delivery: RawDelivery,
): Promise<Doubt | undefined> {
  try {
    const verdict = await verify(delivery);
    // The verifiers that throw return nothing. Of the others, what is no clear yes is a no: a signature that was not
    // found is null, and a comparison that did not match 0.
    if (verdict === undefined || Boolean(verdict)) return undefined;
    return { error: `verify returned ${show(verdict)}`, isUndecided: false };
  } catch (error) {
    return { error: messageOf(error), isUndecided: isUnavailable(error) };
  }
}

/** By the convention of http-errors, Koa and Hono, which most clients of HTTP follow with what they were answered. */
function isUnavailable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 503;
}
