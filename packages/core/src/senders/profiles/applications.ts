import type { HeaderSenderProfile } from '../sender-profile.ts';

/** Code hosts, shops, payments and customer records. */
export const applications: readonly HeaderSenderProfile[] = [
  {
    // Before GitHub, since Gitea sends GitHub's headers as well. Forgejo sends the headers of both.
    name: 'gitea',
    match: { header: 'x-gitea-event' },
    id: 'x-gitea-delivery',
    // The default setting, from a secondary source.
    timeoutMs: 5000,
    retries: 'none',
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://github.com/go-gitea/gitea/blob/main/services/webhook/deliver.go',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'github',
    match: { header: 'x-github-event' },
    // The same for a redelivery, and for all hooks with the event.
    id: 'x-github-delivery',
    timeoutMs: 10_000,
    retries: 'none',
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'gitlab',
    match: { header: 'x-gitlab-event' },
    // New for each hook and event, and the same for a manual retry; X-Gitlab-Webhook-UUID changes each time.
    id: 'idempotency-key',
    // The default setting, from a secondary source.
    timeoutMs: 10_000,
    retries: 'none',
    retryAfter: 'ignored',
    // Project hooks only. Off for a minute, doubling up to a day; 40 failures disable the hook for good.
    switchOff: {
      inARow: 4,
      offS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 86_400],
    },
    success: '2xx',
    source:
      'https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/models/concerns/web_hooks/auto_disabling.rb',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'stripe',
    match: { header: 'stripe-signature' },
    // Neither the timeout nor the steps are published, only "up to three days with exponential backoff". The steps are
    // those that users report. In test mode there are three attempts. Endpoints that fail for days may be disabled.
    retries: { scheduleS: [300, 1800, 7200, 18_000, 36_000, 43_200], windowS: 259_200 },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://docs.stripe.com/webhooks (as quoted by secondary pages)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'shopify',
    match: { header: 'x-shopify-topic' },
    id: 'x-shopify-webhook-id',
    timeoutMs: 5000,
    // Eight retries over four hours, exponentially. The steps are assumed: they double, and end after four hours.
    retries: { maxAttempts: 9, scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 6780], windowS: 14_400 },
    retryAfter: 'ignored',
    // From a secondary source: a subscription created with the Admin API is deleted. Whether the failures of all
    // deliveries count, or only the retries of one, is not said. The careful reading counts all.
    switchOff: { inARow: 8 },
    success: '2xx',
    source: 'https://shopify.dev/changelog/updates-to-webhook-retry-mechanism',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'paypal',
    match: { header: 'paypal-transmission-sig' },
    // Up to 25 times over three days. The steps are assumed.
    retries: {
      maxAttempts: 25,
      scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400],
      windowS: 259_200,
    },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://developer.paypal.com/docs/api/webhooks/v1 (as quoted by secondary pages)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'square',
    match: { header: 'x-square-hmacsha256-signature' },
    // Timeout and steps are from a secondary source. Their sum is the window of Square's own page, 24 h.
    timeoutMs: 10_000,
    retries: {
      maxAttempts: 12,
      scheduleS: [60, 120, 240, 480, 960, 1920, 3600, 7200, 14_400, 28_800, 28_800],
    },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://developer.squareup.com/docs/webhooks/troubleshooting',
    verifiedAt: '2026-11-20',
  },
  {
    // Workflow actions use signature version 2, app subscriptions version 1.
    name: 'hubspot-workflows',
    match: { header: 'x-hubspot-signature-version', value: 'v2' },
    timeoutMs: 30_000,
    // 429 is the only 4xx that it retries, and the only status whose Retry-After it reads.
    status: 429,
    // Three days, a minute to eight hours apart. The steps between are assumed to double.
    retries: {
      scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 28_800],
      windowS: 259_200,
    },
    // HubSpot's page says that the value is recorded in milliseconds.
    retryAfter: { unit: 'ms' },
    source: 'https://knowledge.hubspot.com/workflows/how-do-i-use-webhooks-with-hubspot-workflows',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'hubspot',
    match: { header: 'x-hubspot-signature' },
    // HubSpot's staff said 2 s in 2019; 5 s, as seen today, is as likely. This is the careful end.
    timeoutMs: 2000,
    status: 429,
    // Ten attempts within a day. The steps are assumed.
    retries: {
      maxAttempts: 10,
      scheduleS: [60, 120, 300, 600, 1800, 3600, 7200, 14_400, 28_800],
      windowS: 86_400,
    },
    retryAfter: { unit: 's' },
    source: 'https://community.hubspot.com (topic 277558, answer of the staff)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'merge',
    match: { header: 'x-merge-webhook-signature' },
    timeoutMs: 30_000,
    // Any 4xx, including 429, counts as rejected.
    status: 503,
    // Two more attempts "from the queue". The steps are not published; a minute is assumed.
    retries: { maxAttempts: 3, scheduleS: [60], after: [503, 'timeout'] },
    retryAfter: 'ignored',
    source: 'https://help.merge.dev/articles/4883145267-troubleshooting-webhooks',
    verifiedAt: '2026-11-20',
  },
];
