import { applications } from './requests/applications.ts';
import { clouds } from './requests/clouds.ts';
import { messaging } from './requests/messaging.ts';
import { relays } from './requests/relays.ts';
import type { Request } from './requests/request.ts';
import { standards } from './requests/standards.ts';
import { strangers } from './requests/strangers.ts';

/** Requests of every sender that is known, and of some that are not. */
export const requests: readonly Request[] = [
  ...relays,
  ...clouds,
  ...applications,
  ...messaging,
  ...standards,
  ...strangers,
];
