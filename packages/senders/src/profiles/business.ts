import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/* Customer records, support, forms, documents, analytics and automation. */

/** Signed webhook actions of HubSpot workflows. */
export const hubspotWorkflows: HeaderSenderProfile = {
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
};

/** Subscriptions of HubSpot apps. */
export const hubspot: HeaderSenderProfile = {
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
};

const HIGHLEVEL = {
  name: 'highlevel',
  // Every other status is final, also 503; a timeout is not mentioned.
  status: 429,
  retries: { maxAttempts: 7, scheduleS: [600], after: [429] },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://help.gohighlevel.com/support/solutions/articles/155000007071-automated-webhook-retries',
  verifiedAt: '2026-11-22',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

/** HighLevel marketplace apps. */
export const highlevel: HeaderSenderProfile = { ...HIGHLEVEL, match: { header: 'x-ghl-signature' } };

/** HighLevel marketplace apps, with the signature that it used before. */
export const highlevelLegacy: HeaderSenderProfile = { ...HIGHLEVEL, match: { header: 'x-wh-signature' } };

/** Merge. */
export const merge: HeaderSenderProfile = {
  name: 'merge',
  match: { header: 'x-merge-webhook-signature' },
  timeoutMs: 30_000,
  // Any 4xx, including 429, counts as rejected.
  status: 503,
  // Up to two more attempts. The steps are not published; a minute is assumed.
  retries: { maxAttempts: 3, scheduleS: [60], after: [503, 'timeout'] },
  retryAfter: 'ignored',
  source: 'https://help.merge.dev/en/articles/5720975-automatic-webhook-retries',
  verifiedAt: '2026-11-22',
};

/** Zendesk. */
export const zendesk: HeaderSenderProfile = {
  name: 'zendesk',
  match: { header: 'x-zendesk-webhook-signature' },
  id: 'x-zendesk-webhook-invocation-id',
  // From secondary sources, as is the rule below.
  timeoutMs: 10_000,
  // "Certain response codes", with a schedule that is not published: one more attempt after a minute is assumed.
  retries: { maxAttempts: 2, scheduleS: [60] },
  // After 429 and 503 it retries only with a short Retry-After. The limit of a minute is not verified, and careful.
  retryAfter: { unit: 's', maxSeconds: 59 },
  // It "briefly" stops to send; for how long is not published, and five minutes are assumed.
  switchOff: { ratio: 0.7, count: 1000, windowS: 300, offS: [300] },
  source: 'https://developer.zendesk.com/api-reference/webhooks/introduction',
  verifiedAt: '2026-11-22',
};

const ASANA = {
  name: 'asana',
  timeoutMs: 10_000,
  // For a day; the steps are assumed. Then it deletes the webhook.
  retries: {
    scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  handshake: { header: 'x-hook-secret' },
  source: 'https://developers.asana.com/docs/webhooks-guide',
  verifiedAt: '2026-11-22',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

/** Asana. */
export const asana: HeaderSenderProfile = { ...ASANA, match: { header: 'x-hook-signature' } };

/** The handshake of Asana, which is not signed. */
export const asanaHandshake: HeaderSenderProfile = { ...ASANA, match: { header: 'x-hook-secret' } };

/** Typeform, with a secret. */
export const typeform: HeaderSenderProfile = {
  name: 'typeform',
  match: { header: 'typeform-signature' },
  timeoutMs: 30_000,
  // After 429 and 503 every two to three minutes for ten hours. After other failures five times.
  retries: { scheduleS: [180], windowS: 36_000 },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://www.typeform.com/developers/webhooks',
  verifiedAt: '2026-11-22',
};

/** Calendly, with a signing key. */
export const calendly: HeaderSenderProfile = {
  name: 'calendly',
  match: { header: 'calendly-webhook-signature' },
  // For a day, with exponential backoff; the steps are assumed. Then it disables the webhook.
  retries: {
    scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://developer.calendly.com/api-docs/overview/webhooks/webhook-errors',
  verifiedAt: '2026-11-22',
};

/** DocuSign Connect with HMAC. */
export const docusign: HeaderSenderProfile = {
  name: 'docusign',
  match: { header: 'x-docusign-signature-1' },
  // 45 attempts or seven days, from a secondary source. Even steps are assumed.
  retries: { maxAttempts: 45, scheduleS: [13_700], windowS: 604_800 },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://developers.docusign.com/platform/webhooks/connect (as quoted by secondary pages)',
  verifiedAt: '2026-11-22',
};

/** Intercom. */
export const intercom: HeaderSenderProfile = {
  // After the others, since some use this header too; their SHA-256 signatures do not match.
  name: 'intercom',
  match: { header: 'x-hub-signature', value: /^sha1=/ },
  // Neither the timeout nor the single retry after a minute is confirmed by Intercom's own pages.
  timeoutMs: 5000,
  // Slows down by its own rule, from a minute up to two hours, and then drops the event.
  status: 429,
  retries: { maxAttempts: 2, scheduleS: [60] },
  retryAfter: 'ignored',
  // "More than 1,000 consecutive error codes in a 15-minute window"; those that are not consecutive count here too.
  switchOff: { count: 1000, windowS: 900, offS: [900] },
  source: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
  verifiedAt: '2026-11-22',
};

/** Connection webhooks of Zapier, on a route that only they use: their headers are those of Standard Webhooks. */
export const zapier: SenderProfile = {
  name: 'zapier',
  match: 'all',
  // "A few times with increasing backoff, over roughly 25 minutes". The steps are assumed.
  retries: { maxAttempts: 5, scheduleS: [60, 180, 420, 840] },
  // After 429 and 5xx.
  retryAfter: { unit: 's' },
  success: '2xx',
  source: 'https://docs.zapier.com/white-label/connection-webhooks/error-handling',
  verifiedAt: '2026-11-22',
};

/** Cohort webhooks of Mixpanel, on a route that only they use: they are not signed. */
export const mixpanel: SenderProfile = {
  name: 'mixpanel',
  match: 'all',
  // Only after a 429 does it read Retry-After.
  status: 429,
  // Five retries within a minute, from a secondary source. The steps are assumed.
  retries: { maxAttempts: 6, scheduleS: [2, 4, 8, 16, 30], after: [429, 503] },
  retryAfter: { unit: 's', maxSeconds: 10 },
  source: 'https://docs.mixpanel.com/docs/cohort-sync/webhooks',
  verifiedAt: '2026-11-22',
};

/** Alerts of TradingView, on a route that only they use: they are not signed. */
export const tradingview: SenderProfile = {
  name: 'tradingview',
  match: 'all',
  timeoutMs: 3000,
  // Only after 500 to 599 except 504, three times, 5 s apart.
  status: 503,
  retries: { maxAttempts: 4, scheduleS: [5], after: [503] },
  retryAfter: 'ignored',
  source: 'https://www.tradingview.com/support/solutions/43000735201',
  verifiedAt: '2026-11-22',
};
