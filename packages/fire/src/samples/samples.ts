import { business } from './business.ts';
import { clouds } from './clouds.ts';
import { developerTools } from './developer-tools.ts';
import { email } from './email.ts';
import { messaging } from './messaging.ts';
import { payments } from './payments.ts';
import { relays } from './relays.ts';
import { sample, type Sample } from './sample.ts';
import { shops } from './shops.ts';
import { standards } from './standards.ts';

/** Requests of every sender that is recognized by a header. The first one of a sender is the most common. */
export const samples: readonly Sample[] = [
  ...relays,
  ...clouds,
  ...developerTools,
  ...payments,
  ...shops,
  ...business,
  ...messaging,
  ...email,
  ...standards,
];

const GENERIC = 'Content-Type: application/json';

/** The sample of a sender. Of those that no header identifies, only the headers of signatures are known. */
export function sampleOf(sender: string): Sample {
  const found = samples.find((one) => one.sender === sender);
  if (found !== undefined) return found;
  if (sender === 'nmi') return sample(sender, 'event', `${GENERIC}\nWebhook-Signature: t=nonce,s=signature`);
  const type = sender === 'braintree' ? 'Content-Type: application/x-www-form-urlencoded' : GENERIC;
  return sample(sender, 'event', type);
}
