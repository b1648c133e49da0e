import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/* Payments, subscriptions, banks and accounting. */

/** Stripe. */
export const stripe: HeaderSenderProfile = {
  name: 'stripe',
  match: { header: 'stripe-signature' },
  // Neither the timeout nor the steps are published, only "up to three days with exponential backoff". The steps are
  // those that users report. In test mode there are three attempts. Endpoints that fail for days may be disabled.
  retries: { scheduleS: [300, 1800, 7200, 18_000, 36_000, 43_200], windowS: 259_200 },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://docs.stripe.com/webhooks (as quoted by secondary pages)',
  verifiedAt: '2026-11-20',
};

/** PayPal. */
export const paypal: HeaderSenderProfile = {
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
};

/** Square. */
export const square: HeaderSenderProfile = {
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
  verifiedAt: '2026-11-22',
};

/** Plaid. */
export const plaid: HeaderSenderProfile = {
  name: 'plaid',
  match: { header: 'plaid-verification' },
  timeoutMs: 10_000,
  // 30 s, four times as long each time, within a day. A secondary source says that it does not retry where over 90 % were
  // rejected within the day.
  retries: { maxAttempts: 7, scheduleS: [30, 120, 480, 1920, 7680, 30_720] },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://plaid.com/docs/api/webhooks',
  verifiedAt: '2026-11-22',
};

/** Razorpay. */
export const razorpay: HeaderSenderProfile = {
  name: 'razorpay',
  match: { header: 'x-razorpay-signature' },
  id: 'x-razorpay-event-id',
  // The timeout is not confirmed by Razorpay's pages.
  timeoutMs: 5000,
  // For a day, with exponential backoff, then it disables the webhook. The steps are assumed.
  retries: {
    scheduleS: [60, 120, 240, 480, 960, 1920, 3840, 7680, 14_400],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  source: 'https://razorpay.com/docs/webhooks/best-practices',
  verifiedAt: '2026-11-22',
};

/** Paddle Billing. */
export const paddle: HeaderSenderProfile = {
  name: 'paddle',
  match: { header: 'paddle-signature' },
  timeoutMs: 5000,
  // 60 retries within three days; 20 of them in the first hour, by a secondary source. Even steps are assumed.
  retries: { maxAttempts: 61, scheduleS: [...new Array<number>(20).fill(180), 6390] },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://developer.paddle.com/webhooks/respond-to-webhooks',
  verifiedAt: '2026-11-22',
};

/** QuickBooks Online. */
export const quickbooks: HeaderSenderProfile = {
  name: 'quickbooks',
  match: { header: 'intuit-signature' },
  timeoutMs: 3000,
  // Then every six hours. No end is published; a day is assumed. Later events wait until this one succeeds.
  retries: {
    scheduleS: [10, 20, 30, 300, 1200, 7200, 14_400, 21_600],
    windowS: 86_400,
  },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks/best-practices',
  verifiedAt: '2026-11-22',
};

/** Recurly, JSON only: it does not sign XML. */
export const recurly: HeaderSenderProfile = {
  name: 'recurly',
  match: { header: 'recurly-signature' },
  // Ten retries, about 10 + x × 2^(x + 5) s apart, x from 0 on.
  retries: {
    maxAttempts: 11,
    scheduleS: [10, 74, 266, 778, 2058, 5130, 12_298, 28_682, 65_546, 147_466],
  },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://docs.recurly.com/recurly-subscriptions/docs/automatic-retries',
  verifiedAt: '2026-11-22',
};

/** Adyen, on a route that only it uses: its signature is in the body. */
export const adyen: SenderProfile = {
  name: 'adyen',
  match: 'all',
  // From a secondary source.
  timeoutMs: 10_000,
  // Later events wait until the earliest succeeds.
  retries: {
    scheduleS: [9, 18, 27, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800],
    windowS: 2_592_000,
  },
  retryAfter: 'ignored',
  source: 'https://docs.adyen.com/development-resources/webhooks/troubleshoot',
  verifiedAt: '2026-11-22',
};

/** Braintree, on a route that only it uses: its signature is in the body, a form. */
export const braintree: SenderProfile = {
  name: 'braintree',
  match: 'all',
  timeoutMs: 30_000,
  retries: { scheduleS: [3600], windowS: 86_400 },
  retryAfter: 'ignored',
  source: 'https://developer.paypal.com/braintree/docs/guides/webhooks/parse',
  verifiedAt: '2026-11-22',
};

/** NMI, on a route that only it uses: its headers are not specific. */
export const nmi: SenderProfile = {
  name: 'nmi',
  match: 'all',
  // With many pending events it makes fewer retries.
  retries: {
    maxAttempts: 21,
    scheduleS: [15, 60, 60, 60, 300, 900, 1800, ...new Array<number>(10).fill(3600), 43_200, 43_200, 86_400],
  },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://docs.nmi.com/reference/retry-logic',
  verifiedAt: '2026-11-22',
};
