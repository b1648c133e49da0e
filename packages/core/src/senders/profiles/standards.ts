import type { SenderProfile } from '../sender-profile.ts';

const CLOUDEVENTS = {
  name: 'cloudevents',
  // The specification gives no id that is unique without its source, so none is taken.
  // It knows 429 with Retry-After, which the sender must observe, and says nothing about 503.
  status: 429,
  retryAfter: { unit: 's' },
  source: 'https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<SenderProfile, 'match'>;

/** Whoever follows a standard and is not known by name. They stand after all others. */
export const standards: readonly SenderProfile[] = [
  { ...CLOUDEVENTS, match: { header: 'ce-specversion' } },
  { ...CLOUDEVENTS, match: { header: 'content-type', value: /^application\/cloudevents\b/i } },
  {
    name: 'standard-webhooks',
    match: { header: 'webhook-signature' },
    id: 'webhook-id',
    // It advises senders to wait from 15 to 30 s, and gives a schedule only as an example.
    timeoutMs: 15_000,
    retryAfter: { unit: 's' },
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
    verifiedAt: '2026-11-20',
  },
];
