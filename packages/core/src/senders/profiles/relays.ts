import type { HeaderSenderProfile } from '../sender-profile.ts';

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

/**
 * Relays for webhooks of other senders. They forward the original sender's headers but retry by their own rules, so
 * they come before all other senders.
 */
export const relays: readonly HeaderSenderProfile[] = [
  {
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
  },
  {
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
  },
  {
    name: 'convoy',
    match: { header: 'x-convoy-signature' },
    // The timeout is set per endpoint, the retries per project: by default ten, 100 s apart.
    retries: { maxAttempts: 10, scheduleS: [100] },
    retryAfter: 'ignored',
    success: '2xx',
    source: 'https://github.com/frain-dev/convoy/blob/main/net/dispatcher.go',
    verifiedAt: '2026-11-20',
  },
  { ...SVIX, match: { header: 'svix-id' }, id: 'svix-id' },
  // White-labeled, its headers are those of Standard Webhooks.
  { ...SVIX, match: { header: 'user-agent', value: /^Svix-Webhooks\// }, id: 'webhook-id' },
];
