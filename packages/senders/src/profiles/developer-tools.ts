import type { HeaderSenderProfile } from '../sender-profile.ts';

/* Code hosts, issue trackers, monitoring and content for developers. */

/** Gitea and Forgejo. */
export const gitea: HeaderSenderProfile = {
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
};

/** GitHub. */
export const github: HeaderSenderProfile = {
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
};

/** GitLab. */
export const gitlab: HeaderSenderProfile = {
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
};

/** Bitbucket Cloud. */
export const bitbucket: HeaderSenderProfile = {
  name: 'bitbucket',
  match: { header: 'x-hook-uuid' },
  // No id: whether X-Request-UUID stays the same is not said.
  timeoutMs: 10_000,
  // Up to two more attempts, immediately, after 500 to 599 only.
  status: 503,
  retries: { maxAttempts: 3, scheduleS: [0], after: [503] },
  retryAfter: 'ignored',
  source: 'https://support.atlassian.com/bitbucket-cloud/docs/troubleshoot-webhooks',
  verifiedAt: '2026-11-22',
};

/** Jira Cloud. */
export const jira: HeaderSenderProfile = {
  name: 'jira',
  match: { header: 'x-atlassian-webhook-identifier' },
  id: 'x-atlassian-webhook-identifier',
  // After 408, 409, 425, 429 and 5xx. Five retries, 5 to 15 min apart, are not confirmed by Atlassian's pages; this is the
  // careful end.
  retries: { maxAttempts: 6, scheduleS: [300] },
  retryAfter: 'ignored',
  source: 'https://community.developer.atlassian.com/t/30554',
  verifiedAt: '2026-11-22',
};

/** Linear. */
export const linear: HeaderSenderProfile = {
  name: 'linear',
  match: { header: 'linear-signature' },
  id: 'linear-delivery',
  timeoutMs: 5000,
  retries: { maxAttempts: 4, scheduleS: [60, 3600, 21_600] },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://linear.app/developers/webhooks',
  verifiedAt: '2026-11-22',
};

/** Sentry integrations. */
export const sentry: HeaderSenderProfile = {
  name: 'sentry',
  match: { header: 'sentry-hook-resource' },
  id: 'request-id',
  // Neither the timeout nor the missing retries are confirmed by Sentry's pages; both are the careful end.
  timeoutMs: 1000,
  retries: 'none',
  retryAfter: 'ignored',
  source: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks',
  verifiedAt: '2026-11-22',
};

/** PagerDuty webhook subscriptions, version 3. */
export const pagerduty: HeaderSenderProfile = {
  name: 'pagerduty',
  match: { header: 'x-pagerduty-signature' },
  // Four attempts within 20 min are from a secondary source; the steps are assumed.
  retries: { maxAttempts: 4, scheduleS: [60, 300, 840] },
  retryAfter: 'ignored',
  source: 'https://support.pagerduty.com/docs/webhooks',
  verifiedAt: '2026-11-22',
};

/** Sanity, with a secret. */
export const sanity: HeaderSenderProfile = {
  name: 'sanity',
  match: { header: 'sanity-webhook-signature' },
  id: 'idempotency-key',
  // After 429 and 5xx.
  retries: { maxAttempts: 3, scheduleS: [30, 30], after: [429, 503] },
  retryAfter: 'ignored',
  source: 'https://www.sanity.io/docs/changelog/50ec6abf-fe0c-475b-ae72-314148860132',
  verifiedAt: '2026-11-22',
};
