import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/* Email: events of sent mail, and received mail. */

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

/** SendGrid's Event Webhook, signed. */
export const sendgridEvents: HeaderSenderProfile = {
  ...SENDGRID_EVENTS,
  match: { header: 'x-twilio-email-event-webhook-signature' },
};

/** SendGrid's Event Webhook, unsigned. Its User-Agent appears in logs, but is not documented. */
export const sendgridEventsUnsigned: HeaderSenderProfile = {
  ...SENDGRID_EVENTS,
  match: { header: 'user-agent', value: 'SendGrid Event API' },
};

/** SendGrid's Inbound Parse. Its User-Agent appears in logs, but is not documented. */
export const sendgridParse: HeaderSenderProfile = {
  name: 'sendgrid-parse',
  // There is no other specific header.
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
  verifiedAt: '2026-11-22',
};

/** Mailgun, on a route that only it uses: its signature is in the body. */
export const mailgun: SenderProfile = {
  name: 'mailgun',
  match: 'all',
  // After any status but 200 and 406, for eight hours. Notifications of deliveries are not retried.
  retries: { maxAttempts: 7, scheduleS: [300, 600, 900, 3600, 7200, 14_400] },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-retries',
  verifiedAt: '2026-11-22',
};

/** Inbound mail of Postmark, on a route that only it uses: it does not sign. */
export const postmarkInbound: SenderProfile = {
  name: 'postmark-inbound',
  match: 'all',
  // After any status but 200 and 403.
  retries: {
    maxAttempts: 11,
    scheduleS: [60, 300, 600, 600, 600, 900, 1800, 3600, 7200, 21_600],
  },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://postmarkapp.com/developer/webhooks/inbound-webhook',
  verifiedAt: '2026-11-22',
};

/** Kit, formerly ConvertKit. */
export const kit: HeaderSenderProfile = {
  name: 'kit',
  match: { header: 'x-kit-signature' },
  retries: { maxAttempts: 8, scheduleS: [30, 120, 900, 3600, 14_400, 43_200, 86_400] },
  // After 429 and 503.
  retryAfter: { unit: 's', minSeconds: 1, maxSeconds: 86_400 },
  success: '2xx',
  source: 'https://developers.kit.com/webhooks/retries',
  verifiedAt: '2026-11-22',
};

/** Brevo, on a route that only it uses: it does not sign. */
export const brevo: SenderProfile = {
  name: 'brevo',
  match: 'all',
  // By one reading of its page a 5xx discards the event. 429 is retried by every reading.
  status: 429,
  retries: { maxAttempts: 5, scheduleS: [600, 3600, 7200, 28_800], after: [429, 'timeout'] },
  retryAfter: 'ignored',
  source: 'https://developers.brevo.com/docs/retry-mechanism',
  verifiedAt: '2026-11-22',
};
