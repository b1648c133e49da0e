import type { HeaderSenderProfile } from '../sender-profile.ts';

/* Senders that follow a standard and are not known by name. They come after all others. */

const CLOUDEVENTS = {
  name: 'cloudevents',
  // No id: in the specification, an id is unique only together with its source.
  // The specification requires senders to observe 429 with Retry-After, and does not mention 503. It gives no schedule.
  status: 429,
  retryAfter: { unit: 's' },
  // The specification names 200, 201, 202 and 204, and prefers 202 for a delivery that is handled later.
  success: '2xx',
  source: 'https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

/** CloudEvents in binary mode: the attributes of the event are headers. */
export const cloudevents: HeaderSenderProfile = { ...CLOUDEVENTS, match: { header: 'ce-specversion' } };

/** CloudEvents in structured mode: the whole event is in the body. */
export const cloudeventsStructured: HeaderSenderProfile = {
  ...CLOUDEVENTS,
  match: { header: 'content-type', value: /^application\/cloudevents\b/i },
};

/** Standard Webhooks. */
export const standardWebhooks: HeaderSenderProfile = {
  name: 'standard-webhooks',
  match: { header: 'webhook-signature' },
  id: 'webhook-id',
  // The specification recommends timeouts of 15 to 30 s, and gives this schedule as an example.
  timeoutMs: 15_000,
  retries: { maxAttempts: 10, scheduleS: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] },
  retryAfter: { unit: 's' },
  success: '2xx',
  source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  verifiedAt: '2026-11-20',
};
