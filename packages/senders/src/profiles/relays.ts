import type { HeaderSenderProfile } from '../sender-profile.ts';

/*
 * Relays for webhooks of other senders. They forward the original sender's headers but retry by their own rules, so
 * they come before all other senders.
 */

/** Hookdeck's Event Gateway. */
export const hookdeck: HeaderSenderProfile = {
  name: 'hookdeck',
  match: { header: 'x-hookdeck-eventid' },
  id: 'x-hookdeck-eventid',
  // The timeout of 60 s is not confirmed by Hookdeck's own pages. Users configure the retries, up to 50; five of them,
  // an hour apart, are assumed.
  retries: { maxAttempts: 6, scheduleS: [3600] },
  retryAfter: { unit: 's' },
  success: '2xx',
  source: 'https://github.com/hookdeck/agent-skills (hookdeck-event-gateway)',
  verifiedAt: '2026-11-20',
};

/** Outpost, Hookdeck's open-source server. */
export const outpost: HeaderSenderProfile = {
  name: 'outpost',
  match: { header: 'x-outpost-event-id' },
  id: 'x-outpost-event-id',
  timeoutMs: 5000,
  // 30 s, doubling each time.
  retries: { maxAttempts: 11, scheduleS: [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360] },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://github.com/hookdeck/outpost/blob/main/docs/content/features/event-delivery.mdoc',
  verifiedAt: '2026-11-20',
};

/** Convoy. */
export const convoy: HeaderSenderProfile = {
  name: 'convoy',
  match: { header: 'x-convoy-signature' },
  // The timeout is set per endpoint, the retries per project: by default ten, 100 s apart.
  retries: { maxAttempts: 10, scheduleS: [100] },
  retryAfter: 'ignored',
  success: '2xx',
  source: 'https://github.com/frain-dev/convoy/blob/main/net/dispatcher.go',
  verifiedAt: '2026-11-20',
};

const SVIX = {
  name: 'svix',
  // The open-source server waits 30 s; the hosted service requires an answer within 15 s.
  timeoutMs: 15_000,
  // Any failure is retried. After a 429 the delay is at least a minute, whereas the first step is 5 s.
  status: 503,
  retries: { maxAttempts: 8, scheduleS: [5, 300, 1800, 7200, 18_000, 36_000, 36_000] },
  // Clamps a value to between one and two times the current step of its schedule.
  retryAfter: { unit: 's', minSeconds: 5, steps: { min: 1, max: 2 } },
  success: '2xx',
  // Disables an endpoint after five days of failures only. A receiver that sheds never reaches that, so no `switchOff`.
  source: 'https://github.com/svix/svix-webhooks/blob/main/server/svix-server/src/worker.rs',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<HeaderSenderProfile, 'match'>;

/** Svix, and services that send with it. */
export const svix: HeaderSenderProfile = { ...SVIX, match: { header: 'svix-id' }, id: 'svix-id' };

/** Svix with the headers of Standard Webhooks, as services see it that hide its name. */
export const svixWhiteLabel: HeaderSenderProfile = {
  ...SVIX,
  match: { header: 'user-agent', value: /^Svix-Webhooks\// },
  id: 'webhook-id',
};

/** Hook0, and services that send with it, such as the Coinbase Developer Platform. */
export const hook0: HeaderSenderProfile = {
  name: 'hook0',
  match: { header: 'x-hook0-signature' },
  // Only after a 429 does it read Retry-After, up to ten hours.
  status: 429,
  // Users can configure other steps.
  retries: {
    maxAttempts: 25,
    scheduleS: [3, 10, 180, 1800, 3600, 10_800, 18_000, 36_000],
    windowS: 691_200,
  },
  retryAfter: { unit: 's', maxSeconds: 36_000 },
  success: '2xx',
  source: 'https://documentation.hook0.com/concepts/request-attempts',
  verifiedAt: '2026-11-22',
};
