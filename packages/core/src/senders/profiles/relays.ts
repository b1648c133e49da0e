import type { SenderProfile } from '../sender-profile.ts';

const SVIX = {
  name: 'svix',
  // The open-source server waits 30 s, the hosted service asks for an answer within 15 s.
  timeoutMs: 15_000,
  // Any failure is retried, but after a 429 it waits at least a minute, where its first step is 5 s.
  status: 503,
  retries: { maxAttempts: 8, scheduleS: [5, 300, 1800, 7200, 18_000, 36_000, 36_000] },
  // It takes a value only between one and two times the step of its schedule that is due.
  retryAfter: { unit: 's', minSeconds: 5 },
  // It switches off after five days of nothing but failures, which a receiver that sheds never comes to.
  source: 'https://github.com/svix/svix-webhooks/blob/main/server/svix-server/src/worker.rs',
  verifiedAt: '2026-11-20',
} as const satisfies Omit<SenderProfile, 'match'>;

/**
 * Senders of other people's webhooks. They pass the headers of the original sender on, so they stand before all
 * others: who retries is the relay.
 */
export const relays: readonly SenderProfile[] = [
  {
    name: 'hookdeck',
    match: { header: 'x-hookdeck-eventid' },
    id: 'x-hookdeck-eventid',
    // Its timeout of 60 s is not confirmed by its own pages, and its retries are the user's own rule.
    retryAfter: { unit: 's' },
    source: 'https://github.com/hookdeck/agent-skills (hookdeck-event-gateway)',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'outpost',
    match: { header: 'x-outpost-event-id' },
    id: 'x-outpost-event-id',
    timeoutMs: 5000,
    retries: { maxAttempts: 11 },
    retryAfter: 'ignored',
    source: 'https://github.com/hookdeck/outpost/blob/main/docs/content/features/event-delivery.mdoc',
    verifiedAt: '2026-11-20',
  },
  {
    name: 'convoy',
    match: { header: 'x-convoy-signature' },
    // The timeout belongs to the endpoint, the retries to the project: ten, 100 s apart, unless set otherwise.
    retries: { maxAttempts: 10 },
    retryAfter: 'ignored',
    source: 'https://github.com/frain-dev/convoy/blob/main/net/dispatcher.go',
    verifiedAt: '2026-11-20',
  },
  { ...SVIX, match: { header: 'svix-id' }, id: 'svix-id' },
  // Under a customer's own brand its headers are those of Standard Webhooks.
  { ...SVIX, match: { header: 'user-agent', value: /^Svix-Webhooks\// }, id: 'webhook-id' },
];
