import type { SenderProfile } from '../sender-profile.ts';
import { applications } from './applications.ts';
import { clouds } from './clouds.ts';
import { messaging } from './messaging.ts';
import { relays } from './relays.ts';
import { standards } from './standards.ts';

/**
 * The senders that are known without being told. The first that matches a request is its sender: relays before the
 * senders whose headers they pass on, known senders before the standards that they follow.
 */
export const builtInSenders: readonly SenderProfile[] = [
  ...relays,
  ...clouds,
  ...applications,
  ...messaging,
  ...standards,
];
