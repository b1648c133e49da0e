import { business } from './requests/business.ts';
import { clouds } from './requests/clouds.ts';
import { developerTools } from './requests/developer-tools.ts';
import { email } from './requests/email.ts';
import { messaging } from './requests/messaging.ts';
import { payments } from './requests/payments.ts';
import { relays } from './requests/relays.ts';
import type { Request } from './requests/request.ts';
import { shops } from './requests/shops.ts';
import { standards } from './requests/standards.ts';
import { unknownSenders } from './requests/unknown.ts';

/** Requests of every recognized sender, and of some unknown ones. */
export const requests: readonly Request[] = [
  ...relays,
  ...clouds,
  ...developerTools,
  ...payments,
  ...shops,
  ...business,
  ...messaging,
  ...email,
  ...standards,
  ...unknownSenders,
];
