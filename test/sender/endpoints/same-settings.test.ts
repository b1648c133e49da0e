import { describe, expect, it } from 'vitest';
import { areSame } from '../../../packages/sender/src/options/endpoint-settings.ts';
import type { EndpointSettings } from '../../../packages/sender/src/options/endpoint-settings.ts';

function settings(changed: Partial<EndpointSettings> = {}): EndpointSettings {
  return {
    url: new URL('https://a.example/'),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    limit: { amount: 10, periodMs: 1000, burst: 50 },
    maxInFlight: 10,
    batch: { maxEvents: 10, maxDelayMs: 5000, maxBytes: 1000 },
    isOrdered: false,
    origin: undefined,
    ...changed,
  };
}

describe('settings of an endpoint', () => {
  it('are the same when all values are', () => {
    expect(areSame(settings(), settings())).toBe(true);
  });

  it.each<Partial<EndpointSettings>>([
    { url: new URL('https://a.example/?x') },
    { secrets: ['whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] },
    { secrets: [] },
    { limit: { amount: 11, periodMs: 1000, burst: 50 } },
    { limit: { amount: 10, periodMs: 1001, burst: 50 } },
    { limit: { amount: 10, periodMs: 1000, burst: 51 } },
    { maxInFlight: 11 },
    { batch: undefined },
    { batch: { maxEvents: 11, maxDelayMs: 5000, maxBytes: 1000 } },
    { batch: { maxEvents: 10, maxDelayMs: 5001, maxBytes: 1000 } },
    { batch: { maxEvents: 10, maxDelayMs: 5000, maxBytes: 1001 } },
    { isOrdered: true },
    { origin: 'events.example.com' },
    { permission: { atMs: 0, perMinute: 60 } },
  ])('differ by %j', (changed) => {
    expect(areSame(settings(), settings(changed))).toBe(false);
  });
});
