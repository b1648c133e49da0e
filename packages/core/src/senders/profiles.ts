import type { SenderProfile } from './sender-profile.ts';
import { applications } from './profiles/applications.ts';
import { clouds } from './profiles/clouds.ts';
import { messaging } from './profiles/messaging.ts';
import { relays } from './profiles/relays.ts';
import { standards } from './profiles/standards.ts';

/**
 * The profiles of all built-in senders. The first profile that matches a request identifies its sender, so relays come
 * before the senders whose headers they forward, and known senders before the standards that they follow.
 */
export const builtInSenders: readonly SenderProfile[] = [
  ...relays,
  ...clouds,
  ...applications,
  ...messaging,
  ...standards,
];
