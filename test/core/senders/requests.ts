import { applications } from './requests/applications.ts';
import { clouds } from './requests/clouds.ts';
import { messaging } from './requests/messaging.ts';
import { relays } from './requests/relays.ts';
import type { Request } from './requests/request.ts';
import { standards } from './requests/standards.ts';
import { unknownSenders } from './requests/unknown.ts';

/** Requests of every known sender, and of some unknown ones. */
export const requests: readonly Request[] = [
  ...relays,
  ...clouds,
  ...applications,
  ...messaging,
  ...standards,
  ...unknownSenders,
];
