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
    switchOff: { inARow: 4 },
    success: '2xx',
    source:
      'https://gitlab.com/gitlab-org/gitlab/-/blob/master/app/models/concerns/web_hooks/auto_disabling.rb',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'stripe',
    match: { header: 'stripe-signature' },
    // The timeout is not published. In test mode there are three attempts.
    retries: { windowS: 259_200 },
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
    retries: { maxAttempts: 9, windowS: 14_400 },
    retryAfter: 'ignored',
    // From a secondary source: a subscription created with the Admin API is deleted.
    switchOff: { inARow: 8 },
    success: '2xx',
    source: 'https://shopify.dev/changelog/updates-to-webhook-retry-mechanism',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'paypal',
    match: { header: 'paypal-transmission-sig' },
    retries: { maxAttempts: 25, windowS: 259_200 },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://developer.paypal.com/docs/api/webhooks/v1 (as quoted by secondary pages)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'square',
    match: { header: 'x-square-hmacsha256-signature' },
    // Timeout and attempts are from a secondary source, the window from Square's own page.
    timeoutMs: 10_000,
    retries: { maxAttempts: 11, windowS: 86_400 },
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
    retries: { windowS: 259_200 },
    // HubSpot's page says that the value is recorded in milliseconds.
    retryAfter: { unit: 'ms' },
    success: '2xx',
    source: 'https://knowledge.hubspot.com/workflows/how-do-i-use-webhooks-with-hubspot-workflows',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'hubspot',
    match: { header: 'x-hubspot-signature' },
    // HubSpot's staff said 2 s in 2019; 5 s, as seen today, is not confirmed.
    timeoutMs: 2000,
    status: 429,
    retries: { maxAttempts: 10 },
    retryAfter: { unit: 's' },
    success: '2xx',
    source: 'https://community.hubspot.com (topic 277558, answer of the staff)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'merge',
    match: { header: 'x-merge-webhook-signature' },
    timeoutMs: 30_000,
    // Any 4xx, including 429, counts as rejected.
    status: 503,
    retries: { maxAttempts: 3 },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://help.merge.dev/articles/4883145267-troubleshooting-webhooks',
    verifiedAt: '2026-11-20',
  },
];
