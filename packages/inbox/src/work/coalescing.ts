import { invalidResult } from '@webhook-backpressure/base';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { HandlerRun } from './handler-run.ts';

/** The option `coalesce`. */
export type Coalesce = NonNullable<InboxOptions['coalesce']>;

/**
 * The group of a decrypted delivery: none with null. Deliveries of different handlers have different groups.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK` when `coalesce` returns something else than a string or null.
 */
export function groupOf(coalesce: Coalesce, opened: ClaimedDelivery): string | null {
  const group: unknown = coalesce(inboxDelivery(opened));
  if (group === null || group === undefined) return null;
  if (typeof group !== 'string')
    throw invalidResult('ERR_WBP_CALLBACK', 'coalesce', 'a string or null', group);
  return JSON.stringify([opened.handler ?? null, group]);
}

/** The newest by the time of receipt; of those received at the same time, the last. */
export function newestOf(runs: readonly HandlerRun[]): HandlerRun | undefined {
  let newest: HandlerRun | undefined;
  for (const run of runs)
    if (newest === undefined || run.claimed.receivedAtMs >= newest.claimed.receivedAtMs) newest = run;
  return newest;
}
