import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/*
 * Event services of the large clouds. Users can configure some of them to add any headers, so they come before the
 * applications.
 */

/** Amazon SNS, over HTTP and HTTPS. */
export const awsSns: HeaderSenderProfile = {
  name: 'aws-sns',
  match: { header: 'x-amz-sns-message-type' },
  id: 'x-amz-sns-message-id',
  timeoutMs: 15_000,
  // Any status from 200 to 4xx, including 429, counts as delivered.
  status: 503,
  retries: { maxAttempts: 4, scheduleS: [20, 20, 20], after: [503, 'timeout'] },
  retryAfter: 'ignored',
  handshake: { value: 'SubscriptionConfirmation' },
  success: '2xx',
  source: 'https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html',
  verifiedAt: '2026-11-20',
};

/** API destinations of Amazon EventBridge. */
export const awsEventbridge: HeaderSenderProfile = {
  name: 'aws-eventbridge',
  match: { header: 'user-agent', value: 'Amazon/EventBridge/ApiDestinations' },
  timeoutMs: 5000,
  // 185 retries within a day, with exponential backoff. The steps are assumed: from 1 s, doubling up to 8 min.
  retries: { maxAttempts: 186, scheduleS: [1, 2, 4, 8, 16, 32, 64, 128, 256, 480], windowS: 86_400 },
  // Waits for the longer of Retry-After and its own policy; a negative value ends the retries.
  retryAfter: { unit: 's' },
  success: '2xx',
  source: 'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html',
  verifiedAt: '2026-11-20',
};

const PUBSUB = {
  name: 'google-pubsub',
  // The default acknowledgement deadline; a subscription may set up to 600 s.
  timeoutMs: 10_000,
  // Until the message expires, by default after seven days. The steps are those of its push backoff, 100 ms to 60 s, from
  // a secondary source. It also adapts its rate to the share of successes.
  retries: { scheduleS: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60], windowS: 604_800 },
  retryAfter: 'ignored',
  // It acknowledges with 102, 200, 201, 202 and 204 only.
  success: 200,
  source: 'https://cloud.google.com/pubsub/docs/push',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

/** Google Pub/Sub push with payload unwrapping and written metadata, which makes the message id a header. */
export const googlePubsub: HeaderSenderProfile = {
  ...PUBSUB,
  match: { header: 'x-goog-pubsub-message-id' },
  id: 'x-goog-pubsub-message-id',
};

/** Google Pub/Sub push. The User-Agent that identifies it appears in logs, but is not documented. */
export const googlePubsubWrapped: HeaderSenderProfile = {
  ...PUBSUB,
  match: { header: 'user-agent', value: 'CloudPubSub-Google' },
};

/** Change notifications of Google Drive, Calendar and the other Workspace APIs. */
export const googlePush: HeaderSenderProfile = {
  name: 'google-push',
  match: { header: 'x-goog-channel-id' },
  // Retries only after 500, 502, 503 and 504, with exponential backoff. Neither steps nor end are published; a few
  // within two minutes are assumed.
  status: 503,
  retries: { maxAttempts: 8, scheduleS: [1, 2, 4, 8, 16, 32, 64], after: [503] },
  retryAfter: 'ignored',
  // 102, 200, 201, 202 and 204 only.
  success: 200,
  source: 'https://developers.google.com/workspace/calendar/api/guides/push',
  verifiedAt: '2026-11-20',
};

/** Azure Event Grid. */
export const azureEventGrid: HeaderSenderProfile = {
  name: 'azure-event-grid',
  match: { header: 'aeg-event-type' },
  timeoutMs: 30_000,
  retries: {
    maxAttempts: 30,
    scheduleS: [10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  handshake: { value: 'SubscriptionValidation' },
  // 200 to 204 only.
  success: 200,
  source: 'https://learn.microsoft.com/azure/event-grid/delivery-and-retry',
  verifiedAt: '2026-11-20',
};

/** Change notifications of Microsoft Graph, on a route that only they use. */
export const microsoftGraph: SenderProfile = {
  name: 'microsoft-graph',
  match: 'all',
  // It drops new notifications for ten minutes where over 15 % of the answers took longer than 10 s, so `switchOff` cannot
  // say it: slow answers count, not failures.
  timeoutMs: 3000,
  // For four hours, with exponential backoff. The steps are assumed.
  retries: { scheduleS: [60, 120, 240, 480, 960, 1920, 3600], windowS: 14_400 },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://learn.microsoft.com/graph/change-notifications-delivery-webhooks',
  verifiedAt: '2026-11-22',
};
