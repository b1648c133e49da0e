import type { SenderProfile } from '../sender-profile.ts';

const SENDGRID_EVENTS = {
  name: 'sendgrid-events',
  // Not confirmed by its own pages.
  retries: { windowS: 86_400 },
  retryAfter: 'ignored',
  source: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<SenderProfile, 'match'>;

const DISCORD = {
  timeoutMs: 3000,
  retryAfter: 'ignored',
  source:
    'https://github.com/discord/discord-api-docs: developers/events/webhook-events.mdx, developers/interactions',
  verifiedAt: '2026-11-20',
} as const satisfies Partial<SenderProfile>;

/** Chat, telephony, mail and meetings. */
export const messaging: readonly SenderProfile[] = [
  {
    name: 'slack',
    match: { header: 'x-slack-signature' },
    timeoutMs: 3000,
    // The times are from a secondary source. Commands and interactions are signed alike and never repeated.
    retries: { maxAttempts: 4, scheduleS: [0, 60, 300] },
    retryAfter: 'ignored',
    switchOff: { ratio: 0.95, windowS: 3600 },
    source: 'https://docs.slack.dev/apis/events-api',
    verifiedAt: '2026-11-20',
  },
  {
    // The User-Agent is seen in logs and not documented. Where it is missing, the next profile holds.
    ...DISCORD,
    name: 'discord-events',
    match: { header: 'user-agent', value: /^Discord-Webhook\// },
    retries: { windowS: 600 },
    success: 204,
  },
  { ...DISCORD, name: 'discord', match: { header: 'x-signature-ed25519' }, retries: 'none' },
  {
    name: 'twilio',
    match: { header: 'x-twilio-signature' },
    id: 'i-twilio-idempotency-token',
    // This is the time for all attempts together.
    timeoutMs: 15_000,
    // By default it repeats only a failed connection; a fragment of the address, #rp=5xx&rc=2, can ask for more.
    retries: 'none',
    retryAfter: 'ignored',
    source: 'https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides',
    verifiedAt: '2026-11-20',
  },
  { ...SENDGRID_EVENTS, match: { header: 'x-twilio-email-event-webhook-signature' } },
  // Unsigned, only the User-Agent tells it, which is seen in logs and not documented.
  { ...SENDGRID_EVENTS, match: { header: 'user-agent', value: 'SendGrid Event API' } },
  {
    name: 'sendgrid-parse',
    // Seen in logs and not documented: it has no other header of its own.
    match: { header: 'user-agent', value: /^Sendlib\// },
    // A 4xx drops the mail at once, a 5xx is repeated for three days.
    status: 503,
    retries: { windowS: 259_200 },
    retryAfter: 'ignored',
    source: 'https://support.sendgrid.com/hc/en-us/articles/46513815674395',
    verifiedAt: '2026-11-20',
  },
  {
    // WhatsApp, Messenger, Instagram. GitHub and Gitea have this header too, and stand before it.
    name: 'meta',
    match: { header: 'x-hub-signature-256' },
    // The least of what secondary sources say, 5 to 20 s; and of 36 h to 7 days.
    timeoutMs: 5000,
    retries: { windowS: 129_600 },
    retryAfter: 'ignored',
    success: 200,
    source: 'https://docs.360dialog.com/docs/messaging/webhook',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'zoom',
    match: { header: 'x-zm-signature' },
    timeoutMs: 3000,
    // Its page names any failure; that only 5xx is repeated is said elsewhere, and costs nothing to heed.
    status: 503,
    retries: { maxAttempts: 4, scheduleS: [300, 1200, 3600] },
    retryAfter: 'ignored',
    success: 200,
    source: 'https://developers.zoom.us/blog/webhook-delays.md',
    verifiedAt: '2026-11-20',
  },
  {
    // A header that others have too, so it stands last here; their SHA-256 signatures do not match.
    name: 'intercom',
    match: { header: 'x-hub-signature', value: /^sha1=/ },
    // Not confirmed by its own pages, as is the single retry after a minute.
    timeoutMs: 5000,
    // It slows down by its own rule: from a minute up to two hours, after which it drops.
    status: 429,
    retries: { maxAttempts: 2, scheduleS: [60] },
    retryAfter: 'ignored',
    source: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
    verifiedAt: '2026-11-20',
  },
];
