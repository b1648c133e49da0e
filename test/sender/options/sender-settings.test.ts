import { BackpressureError } from '@webhook-backpressure/base';
import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { SenderOptions } from '@webhook-backpressure/sender';
import { settle } from '../../../packages/sender/src/options/sender-options.ts';

const required = { store: memoryStore(), endpoint: (): null => null };

function codeOf(options: unknown): string | undefined {
  try {
    settle(options as SenderOptions);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return (error as BackpressureError).code;
  }
}

describe('the options of a sender', () => {
  it('have defaults', () => {
    expect(settle(required)).toMatchObject({
      endpointTtlMs: 10_000,
      defaults: { limit: { amount: 1, periodMs: 100, burst: 50 }, maxInFlight: 10 },
      retry: { attempts: 20, firstDelayMs: 5000, maxDelayMs: 21_600_000, maxAgeMs: 432_000_000 },
      timeoutMs: 15_000,
      maxWaitMs: 86_400_000,
      whenFull: 'wait',
      allowPrivateAddresses: false,
    });
  });

  it('ignore an option that is undefined', () => {
    const none = Object.keys(settle(required)).filter((name) => !(name in required));
    const absent = Object.fromEntries(none.map((name) => [name, undefined]));
    expect(settle({ ...required, ...absent })).toEqual(settle(required));
  });

  it.each([
    [{ endpointTtlMs: 0 }],
    [{ retry: { attempts: 1 } }],
    [{ retry: { firstDelayMs: 80_000_000 } }],
    [{ retry: {} }],
    [{ defaults: {} }],
    [{ defaults: { rate: { perMinute: 30 } } }],
    [{ buckets: undefined, fetch: globalThis.fetch }],
    [{ whenFull: 'refuse' }],
  ])('may be %o', (options) => {
    expect(codeOf({ ...required, ...options })).toBeUndefined();
  });

  it.each([
    ['ERR_WBP_OPTIONS', undefined],
    ['ERR_WBP_OPTIONS', []],
    ['ERR_WBP_STORE', { endpoint: (): null => null }],
    ['ERR_WBP_STORE', { ...required, store: { open: () => undefined } }],
    ['ERR_WBP_STORE', { ...required, store: memoryStore }],
    ['ERR_WBP_ENDPOINT', { store: required.store }],
    ['ERR_WBP_ENDPOINT', { ...required, endpoint: { url: 'https://example.com' } }],
    ['ERR_WBP_ENDPOINT', { ...required, endpointTtlMs: -1 }],
    ['ERR_WBP_ENDPOINT', { ...required, endpointTtlMs: Infinity }],
    ['ERR_WBP_UNKNOWN_OPTION', { ...required, timeout: 5 }],
    ['ERR_WBP_UNKNOWN_OPTION', { ...required, defaults: { ratePerSecond: 5 } }],
    ['ERR_WBP_UNKNOWN_OPTION', { ...required, retry: { delays: [] } }],
    ['ERR_WBP_RATE', { ...required, defaults: 10 }],
    ['ERR_WBP_RATE', { ...required, defaults: { rate: 10 } }],
    ['ERR_WBP_RATE', { ...required, defaults: { burst: 0 } }],
    ['ERR_WBP_RATE', { ...required, defaults: { burst: 1_000_001 } }],
    ['ERR_WBP_IN_FLIGHT', { ...required, defaults: { maxInFlight: 0 } }],
    ['ERR_WBP_IN_FLIGHT', { ...required, defaults: { maxInFlight: 10_001 } }],
    ['ERR_WBP_BUCKETS', { ...required, buckets: new Map() }],
    ['ERR_WBP_BUCKETS', { ...required, buckets: null }],
    ['ERR_WBP_RETRY', { ...required, retry: { attempts: 0 } }],
    ['ERR_WBP_RETRY', { ...required, retry: { firstDelayMs: 5000, maxDelayMs: 1 } }],
    ['ERR_WBP_RETRY', { ...required, retry: { maxAgeMs: 0 } }],
    ['ERR_WBP_RETRY', { ...required, retry: 3 }],
    ['ERR_WBP_TIMEOUT', { ...required, timeoutMs: 0 }],
    ['ERR_WBP_TIMEOUT', { ...required, timeoutMs: '15s' }],
    ['ERR_WBP_MAX_WAIT', { ...required, maxWaitMs: 999 }],
    ['ERR_WBP_DISABLE_AFTER', { ...required, disableAfterMs: 0 }],
    ['ERR_WBP_CAPACITY', { ...required, capacity: 0 }],
    ['ERR_WBP_MAX_BYTES', { ...required, maxBytes: 0.5 }],
    ['ERR_WBP_MAX_BODY', { ...required, maxEventBytes: 20_000_000 }],
    ['ERR_WBP_WHEN_FULL', { ...required, whenFull: 'drop' }],
    ['ERR_WBP_RETENTION', { ...required, retentionMs: -1 }],
    ['ERR_WBP_MAX_DEAD_LETTERS', { ...required, maxDeadLetters: 0 }],
    ['ERR_WBP_PRIVATE_ADDRESSES', { ...required, allowPrivateAddresses: 'yes' }],
    ['ERR_WBP_PRIVATE_ADDRESSES', { ...required, allowPrivateAddresses: null }],
    ['ERR_WBP_FETCH', { ...required, fetch: 'undici' }],
    ['ERR_WBP_CLOCK', { ...required, clock: Date }],
    ['ERR_WBP_CLOCK', { ...required, wallClock: 0 }],
    ['ERR_WBP_RANDOM', { ...required, random: 0.5 }],
  ])('throw %s for %o', (code, options) => {
    expect(codeOf(options)).toBe(code);
  });
});
