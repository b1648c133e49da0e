import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../settings/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { tell } from '../report/onlooker.ts';
import type { Sealing } from '../settings/sealing.ts';

/**
 * Calls `onDead`. A delivery that cannot be decrypted is shown to it without its contents.
 */
export function tellDead(
  onDead: InboxOptions['onDead'],
  claimed: ClaimedDelivery,
  error: string,
  sealing: Sealing,
): void {
  if (onDead === undefined) return;
  const call = (opened: ClaimedDelivery): void => {
    tell(() => onDead(inboxDelivery(opened), error));
  };
  const opened = sealing.openOrEmpty(claimed);
  if (opened instanceof Promise) void opened.then(call);
  else call(opened);
}
