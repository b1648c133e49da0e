import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/* Chat, streaming, telephony and meetings. */

/** Events of Slack. Commands and interactions have the same headers and are never retried. */
export const slack: HeaderSenderProfile = {
  name: 'slack',
  match: { header: 'x-slack-signature' },
  timeoutMs: 3000,
  // The schedule is from a secondary source.
  retries: { maxAttempts: 4, scheduleS: [0, 60, 300] },
  retryAfter: 'ignored',
  // Below 1,000 events an hour it never turns an app's events off.
  switchOff: { ratio: 0.95, minAnswers: 1000, windowS: 3600 },
  success: '2xx',
  source: 'https://docs.slack.dev/apis/events-api',
  verifiedAt: '2026-11-22',
};

const DISCORD = {
  timeoutMs: 3000,
  retryAfter: 'ignored',
  source:
    'https://github.com/discord/discord-api-docs: developers/events/webhook-events.mdx, developers/interactions',
  verifiedAt: '2026-11-20',
} as const satisfies Partial<HeaderSenderProfile>;

/** Webhook events of Discord. Their User-Agent appears in logs, but is not documented. */
export const discordEvents: HeaderSenderProfile = {
  ...DISCORD,
  name: 'discord-events',
  match: { header: 'user-agent', value: /^Discord-Webhook\// },
  // For ten minutes, with exponential backoff. The steps are assumed.
  retries: { scheduleS: [1, 2, 4, 8, 16, 32, 64, 128, 256], windowS: 600 },
  success: 204,
};

/** Interactions of Discord, and its webhook events if their User-Agent is not recognized. */
export const discord: HeaderSenderProfile = {
  ...DISCORD,
  name: 'discord',
  match: { header: 'x-signature-ed25519' },
  retries: 'none',
};

/** Telegram bots whose webhook has a secret token. */
export const telegram: HeaderSenderProfile = {
  name: 'telegram',
  match: { header: 'x-telegram-bot-api-secret-token' },
  // The first retry is immediate; then the delay doubles up to 60 to 120 s, until the update expires after a day.
  retries: { scheduleS: [0, 2, 4, 8, 16, 32, 60], windowS: 86_400 },
  // After any status. The first retry of every delivery waits for it too.
  retryAfter: { unit: 's', maxSeconds: 3600 },
  success: '2xx',
  source: 'https://github.com/tdlib/telegram-bot-api/blob/master/telegram-bot-api/WebhookActor.cpp',
  verifiedAt: '2026-11-22',
};

/** The Messaging API of LINE. */
export const line: HeaderSenderProfile = {
  name: 'line',
  match: { header: 'x-line-signature' },
  timeoutMs: 2000,
  // Retries have to be turned on. Webhooks that fail for long are suspended.
  retries: 'none',
  retryAfter: 'ignored',
  source: 'https://developers.line.biz/en/docs/messaging-api/check-webhook-error-statistics',
  verifiedAt: '2026-11-22',
};

/** Twitch EventSub. */
export const twitch: HeaderSenderProfile = {
  name: 'twitch',
  match: { header: 'twitch-eventsub-message-id' },
  id: 'twitch-eventsub-message-id',
  // "A few seconds", and retries without a schedule. Two seconds and two retries are assumed. It revokes a subscription
  // after too many failures.
  timeoutMs: 2000,
  retries: { maxAttempts: 3, scheduleS: [10, 60] },
  retryAfter: 'ignored',
  handshake: { header: 'twitch-eventsub-message-type', value: 'webhook_callback_verification' },
  success: '2xx',
  source: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events',
  verifiedAt: '2026-11-22',
};

/** Twilio. */
export const twilio: HeaderSenderProfile = {
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
};

/** WhatsApp, Messenger and Instagram. */
export const meta: HeaderSenderProfile = {
  // GitHub and Gitea send this header too, and come before it.
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
};

/** Zoom. */
export const zoom: HeaderSenderProfile = {
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
};

/** Dialpad, on a route that only it uses: its events are tokens in the body. */
export const dialpad: SenderProfile = {
  name: 'dialpad',
  match: 'all',
  timeoutMs: 5000,
  // A 4xx, including 429, is not retried.
  status: 503,
  // The shortest of its schedules, that of contacts, phones and faxes. Calls: 2, 4 and 8 s. SMS: ten within 4 h.
  retries: { maxAttempts: 5, scheduleS: [0.1, 0.2, 0.4, 0.8], after: [503] },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://developers.dialpad.com/docs/webhook-delivery-failures',
  verifiedAt: '2026-11-22',
};
