import type { SenderProfile } from '@webhook-backpressure/senders';
import { retriesForS } from './cells.ts';

const INBOX = 'Use [the inbox](inbox.md).';
/** An overload may last this long before a sender without an inbox loses events. */
const LONG_ENOUGH_S = 3600;

/** Advice that does not follow from the profile. */
const SPECIAL: Readonly<Record<string, string>> = {
  // They use the response of the handler.
  discord: 'Give it a route with its own intake.',
  twilio: 'Give it a route with its own intake.',
  // It counts slow answers, and a queue makes answers slow.
  'microsoft-graph': INBOX,
};

/** The first words that docs/senders.md must have on what to do for a sender. */
export function adviceOf(profile: SenderProfile): string {
  const special = SPECIAL[profile.name];
  if (special !== undefined) return special;
  const isShort = (retriesForS(profile) ?? Infinity) < LONG_ENOUGH_S;
  return isShort || profile.switchOff?.inARow !== undefined ? INBOX : 'Nothing.';
}
