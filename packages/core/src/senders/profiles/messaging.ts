import type { HeaderSenderProfile } from '../sender-profile.ts';

const SENDGRID_EVENTS = {
  name: 'sendgrid-events',
  // For a day, at growing intervals. The steps are assumed.
  retries: {
    scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

const DISCORD = {
  timeoutMs: 3000,
  retryAfter: 'ignored',
  source:
    'https://github.com/discord/discord-api-docs: developers/events/webhook-events.mdx, developers/interactions',
  verifiedAt: '2026-11-20',
} as const satisfies Partial<HeaderSenderProfile>;

/** Chat, telephony, email and meetings. */
export const messaging: readonly HeaderSenderProfile[] = [
  {
    name: 'slack',
    match: { header: 'x-slack-signature' },
    timeoutMs: 3000,
    // The schedule is from a secondary source. Commands and interactions have the same signature and are never retried.
    retries: { maxAttempts: 4, scheduleS: [0, 60, 300] },
    retryAfter: 'ignored',
    // Below 1,000 events an hour it never turns an app's events off.
    switchOff: { ratio: 0.95, minAnswers: 1000, windowS: 3600 },
    success: '2xx',
    source: 'https://docs.slack.dev/apis/events-api',
    verifiedAt: '2026-11-20',
  },
  {
    // The User-Agent appears in logs but is not documented. Without it, the next profile applies.
    ...DISCORD,
    name: 'discord-events',
    match: { header: 'user-agent', value: /^Discord-Webhook\// },
    // For ten minutes, with exponential backoff. The steps are assumed.
    retries: { scheduleS: [1, 2, 4, 8, 16, 32, 64, 128, 256], windowS: 600 },
    success: 204,
  },
  { ...DISCORD, name: 'discord', match: { header: 'x-signature-ed25519' }, retries: 'none' },
  {
    name: 'twilio',
    match: { header: 'x-twilio-signature' },
    id: 'i-twilio-idempotency-token',
    // The time for all attempts together.
    timeoutMs: 15_000,
    // By default only a failed connection is retried; a URL fragment such as #rp=5xx&rc=2 can enable more.
    retries: 'none',
    retryAfter: 'ignored',
    source: 'https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides',
    verifiedAt: '2026-11-20',
  },
  { ...SENDGRID_EVENTS, match: { header: 'x-twilio-email-event-webhook-signature' } },
  // Without a signature only the User-Agent identifies it, which appears in logs but is not documented.
  { ...SENDGRID_EVENTS, match: { header: 'user-agent', value: 'SendGrid Event API' } },
  {
    name: 'sendgrid-parse',
    // Appears in logs but is not documented. There is no other specific header.
    match: { header: 'user-agent', value: /^Sendlib\// },
    // A 4xx drops the mail immediately. A 5xx is retried every five to ten minutes for an hour, then about every three
    // hours. Nothing is said about timeouts, which count as 5xx here.
    status: 503,
    retries: {
      scheduleS: [600, 600, 600, 600, 600, 600, 10_800],
      windowS: 259_200,
      after: [503, 'timeout'],
    },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://support.sendgrid.com/hc/en-us/articles/46513815674395',
    verifiedAt: '2026-11-20',
  },
  {
    // WhatsApp, Messenger, Instagram. GitHub and Gitea send this header too, and come before it.
    name: 'meta',
    match: { header: 'x-hub-signature-256' },
    // The lowest values of secondary sources: timeouts of 5 to 20 s, retries for 36 h to 7 days. Meta retries
    // "immediately, then with decreasing frequency"; the steps are assumed.
    timeoutMs: 5000,
    retries: { scheduleS: [0, 60, 300, 1800, 7200, 14_400, 28_800], windowS: 129_600 },
    retryAfter: 'ignored',
    success: 200,
    source: 'https://docs.360dialog.com/docs/messaging/webhook',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'zoom',
    match: { header: 'x-zm-signature' },
    timeoutMs: 3000,
    // Zoom's page says that any failure is retried. Other sources say only 5xx, and heeding them costs nothing.
    status: 503,
    retries: { maxAttempts: 4, scheduleS: [300, 1200, 3600] },
    retryAfter: 'ignored',
    success: 200,
    source: 'https://developers.zoom.us/blog/webhook-delays.md',
    verifiedAt: '2026-11-20',
  },
  {
    // Last, since other senders use this header too; their SHA-256 signatures do not match.
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
    verifiedAt: '2026-11-20',
  },
];
