import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import { callObserver } from '../events/call-observer.ts';
import type { Encryption } from '../encryption/encryption.ts';

/** Calls `onDead`. A delivery that cannot be decrypted is passed without its contents. */
export function callOnDead(
  onDead: InboxOptions['onDead'],
  claimed: ClaimedDelivery,
  error: string,
  encryption: Encryption,
): void {
  if (onDead === undefined) return;
  const call = (delivery: ClaimedDelivery): void => {
    callObserver(() => onDead(inboxDelivery(delivery), error));
  };
  const decrypted = encryption.decryptOrEmpty(claimed);
  if (decrypted instanceof Promise) void decrypted.then(call);
  else call(decrypted);
}
