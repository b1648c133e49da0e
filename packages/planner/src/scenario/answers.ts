import type { SenderProfile } from '@webhook-backpressure/senders';

/** Statuses that a sender treats apart. A profile has only those that a receiver of this project sends. */
interface Exceptions {
  /** After these the sender gives up the delivery, although it retries after others. */
  readonly final?: readonly number[];
  /** Of 400 to 499, the sender retries after these only. */
  readonly retried4xx?: readonly number[];
  /** After these it also disables the endpoint. */
  readonly gone?: readonly number[];
}

/** By the name of the profile. */
const EXCEPTIONS: ReadonlyMap<string, Exceptions> = new Map([
  // github.com/standard-webhooks/standard-webhooks, spec, "410 Gone"
  ['standard-webhooks', { gone: [410] }],
  // developers.kit.com/webhooks/retries
  ['kit', { gone: [410] }],
  // typeform.com/developers/webhooks
  ['typeform', { gone: [404, 410] }],
  // learn.microsoft.com/azure/event-grid/delivery-and-retry
  ['azure-event-grid', { final: [400, 401, 403, 413] }],
  // community.hubspot.com 277558
  ['hubspot', { final: [400, 401, 403, 404, 405] }],
  // documentation.mailgun.com, "webhook retries"
  ['mailgun', { final: [406] }],
  // community.developer.atlassian.com/t/30554
  ['jira', { retried4xx: [408, 409, 425, 429] }],
  // awsdocs/amazon-eventbridge-user-guide, eb-api-destinations.md
  ['aws-eventbridge', { retried4xx: [429] }],
  // postmarkapp.com, "inbound webhook retries"
  ['postmark-inbound', { final: [403] }],
]);

/** What the sender concludes from a status. `failure`: whether it retries depends on its schedule. */
export function conclusionOf(
  profile: SenderProfile | undefined,
  status: number,
): 'success' | 'failure' | 'final' | 'gone' {
  const { name = '', success = '2xx' } = profile ?? {};
  if (success === '2xx' ? status >= 200 && status < 300 : status === success) return 'success';
  const { final, retried4xx, gone } = EXCEPTIONS.get(name) ?? {};
  if (gone?.includes(status)) return 'gone';
  const isOther4xx = retried4xx !== undefined && status < 500 && !retried4xx.includes(status);
  return isOther4xx || final?.includes(status) ? 'final' : 'failure';
}
