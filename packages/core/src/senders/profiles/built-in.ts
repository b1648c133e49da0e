import type { HeaderSenderProfile } from '../sender-profile.ts';
import { applications } from './applications.ts';
import { clouds } from './clouds.ts';
import { messaging } from './messaging.ts';
import { relays } from './relays.ts';
import { standards } from './standards.ts';

/**
 * The profiles of all built-in senders. The first profile that matches a request identifies its sender, so relays come
 * before the senders whose headers they forward, and known senders before the standards that they follow.
 */
export const builtInSenders: readonly HeaderSenderProfile[] = [
  ...relays,
  ...clouds,
  ...applications,
  ...messaging,
  ...standards,
];
