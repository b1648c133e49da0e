import type { HeaderSenderProfile, SenderProfile } from '../sender-profile.ts';

/* Shops and sites. */

/** Shopify. */
export const shopify: HeaderSenderProfile = {
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
  verifiedAt: '2026-11-22',
};

/** WooCommerce. */
export const woocommerce: HeaderSenderProfile = {
  name: 'woocommerce',
  match: { header: 'x-wc-webhook-topic' },
  // No id: X-WC-Webhook-Delivery-ID is a hash of the webhook and the second, so several events share it.
  timeoutMs: 60_000,
  // The source schedules no second attempt.
  retries: 'none',
  retryAfter: 'ignored',
  // "More than 5 consecutive failures": the sixth in words, the seventh in code.
  switchOff: { inARow: 6 },
  success: '2xx',
  source:
    'https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php',
  verifiedAt: '2026-11-22',
};

/** Wix, on a route that only it uses: its event is a signed token in the body. */
export const wix: SenderProfile = {
  name: 'wix',
  match: 'all',
  timeoutMs: 1250,
  retries: {
    maxAttempts: 13,
    scheduleS: [60, 600, 3600, 7200, 7200, 7200, 14_400, 14_400, 14_400, 28_800, 28_800, 43_200],
  },
  retryAfter: 'ignored',
  success: 200,
  source: 'https://dev.wix.com/docs/rest/articles/getting-started/webhook-resend-policy',
  verifiedAt: '2026-11-22',
};
