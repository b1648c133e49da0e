import { BackpressureError } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import { checkEndpoint } from '../../../packages/sender/src/options/endpoint-settings.ts';
import { checkLimits } from '../../../packages/sender/src/options/rates.ts';
import type { EndpointSettings } from '../../../packages/sender/src/options/endpoint-settings.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ENDPOINT = { url: 'https://example.com/hooks', secret: SECRET };
const RULES = { defaults: checkLimits({ rate: { perSecond: 10 }, burst: 30 }), allowPrivateAddresses: false };

function checked(value: unknown, allowPrivateAddresses = false): EndpointSettings {
  const settings = checkEndpoint(value, { ...RULES, allowPrivateAddresses });
  if (settings === null) throw new Error('There is no endpoint.');
  return settings;
}

function errorOf(value: unknown): BackpressureError {
  try {
    checkEndpoint(value, RULES);
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('It was accepted.');
}

describe('the settings of an endpoint', () => {
  it('are null for no endpoint', () => {
    expect(checkEndpoint(null, RULES)).toBeNull();
  });

  it('get the default limits', () => {
    expect(checked(ENDPOINT)).toEqual({
      url: new URL('https://example.com/hooks'),
      secrets: [SECRET],
      limit: { amount: 1, periodMs: 100, burst: 30 },
      maxInFlight: 10,
      batch: undefined,
      isOrdered: false,
    });
  });

  it('replace the default burst with the rate', () => {
    expect(checked({ ...ENDPOINT, rate: { perMinute: 6 } }).limit).toEqual({
      amount: 1,
      periodMs: 10_000,
      burst: 1,
    });
    expect(checked({ ...ENDPOINT, burst: 3 }).limit).toEqual({ amount: 1, periodMs: 100, burst: 3 });
  });

  it.each([
    [{ perSecond: 10 }, { amount: 1, periodMs: 125, burst: 2 }],
    [{ perMinute: 100 }, { amount: 1, periodMs: 750, burst: 20 }],
    [{ perSecond: 1 }, { amount: 1, periodMs: 1250, burst: 1 }],
  ])('use four fifths of a documented rate, and a burst that fits into the rest: %j', (rate, limit) => {
    const settings = checked({ ...ENDPOINT, rate, documented: true });
    expect(settings.limit).toEqual(limit);
    const unitMs = 'perMinute' in rate ? 60_000 : 1000;
    const most = 'perMinute' in rate ? rate.perMinute : rate.perSecond;
    if (most > 1) expect(limit.burst + (unitMs * limit.amount) / limit.periodMs).toBeLessThanOrEqual(most);
  });

  it('keep a burst that is set beside a documented rate', () => {
    expect(checked({ ...ENDPOINT, burst: 9, documented: true }).limit.burst).toBe(9);
  });

  it('complete the limits of batches', () => {
    expect(checked({ ...ENDPOINT, batch: {} }).batch).toEqual({
      maxEvents: 100,
      maxDelayMs: 5000,
      maxBytes: 1_000_000,
    });
    expect(checked({ ...ENDPOINT, batch: { maxEvents: 1, maxDelayMs: 0 } }).batch?.maxDelayMs).toBe(0);
  });

  it.each([
    ['https://example.com:8443/a?b=c#d', 'https://example.com:8443/a?b=c'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://[2606:4700::1111]:444/', 'https://[2606:4700::1111]:444/'],
    [new URL('https://example.com/#secret'), 'https://example.com/'],
    ['HTTPS://EXAMPLE.COM', 'https://example.com/'],
  ])('accept the URL %s', (url, href) => {
    expect(checked({ ...ENDPOINT, url }).url.href).toBe(href);
  });

  it.each([
    ['http://example.com'],
    ['https://user:hunter2@example.com'],
    ['https://user@example.com'],
    ['https://10.0.0.1/'],
    ['https://0x7f.1/'],
    ['https://2130706433/'],
    ['https://[::1]/'],
    ['https://[::ffff:10.0.0.1]/'],
    ['https://localhost/'],
    ['https://169.254.169.254/latest/meta-data'],
    ['https://example.com:0/'],
    ['file:///etc/passwd'],
    ['javascript:alert(1)'],
    ['ftp://example.com'],
    ['//example.com'],
    ['/hooks'],
    ['https://'],
    ['https://exa mple.com'],
    [`https://example.com/${'x'.repeat(4096)}`],
    [''],
    [undefined],
    [null],
    [7],
    [{ href: 'https://example.com' }],
  ])('refuse the URL %s, without repeating it', (url) => {
    const error = errorOf({ ...ENDPOINT, url });
    expect(error.code).toBe('ERR_WBP_ENDPOINT_URL');
    expect(error.message).not.toContain('hunter2');
  });

  it('accept http and private addresses where that is allowed', () => {
    expect(checked({ ...ENDPOINT, url: 'http://127.0.0.1:8080' }, true).url.port).toBe('8080');
    expect(() => checked({ ...ENDPOINT, url: 'http://a:b@127.0.0.1' }, true)).toThrow('credentials');
    expect(() => checked({ ...ENDPOINT, url: 'file:///etc/passwd' }, true)).toThrow('https');
  });

  it('keep several secrets, and copy their list', () => {
    const secret = [SECRET, 'c2VjcmV0IG51bWJlciB0d28gaXMgbG9uZw=='];
    const { secrets } = checked({ ...ENDPOINT, secret });
    secret.pop();
    expect(secrets).toHaveLength(2);
    expect(checked({ ...ENDPOINT, secret: null }).secrets).toEqual([]);
  });

  it.each([
    [undefined],
    [''],
    ['whsec_'],
    ['not base64!'],
    [[]],
    [[SECRET, '']],
    [[SECRET, 7]],
    [Array.from({ length: 11 }, () => SECRET)],
    [new Uint8Array(32)],
    [false],
  ])('refuse the secret %o, without repeating it', (secret) => {
    const error = errorOf({ ...ENDPOINT, secret });
    expect(error.code).toBe('ERR_WBP_ENDPOINT_SECRET');
    expect(error.message).not.toContain('MfKQ9r8G');
    expect(error.message).not.toContain('not base64');
  });

  it.each([
    ['ERR_WBP_ENDPOINT', undefined],
    ['ERR_WBP_ENDPOINT', 'https://example.com'],
    ['ERR_WBP_ENDPOINT', [ENDPOINT]],
    ['ERR_WBP_ENDPOINT', () => ENDPOINT],
    ['ERR_WBP_UNKNOWN_OPTION', { ...ENDPOINT, limit: 10 }],
    ['ERR_WBP_RATE', { ...ENDPOINT, rate: 10 }],
    ['ERR_WBP_RATE', { ...ENDPOINT, burst: 0 }],
    ['ERR_WBP_RATE', { ...ENDPOINT, documented: 'yes' }],
    ['ERR_WBP_IN_FLIGHT', { ...ENDPOINT, maxInFlight: 1.5 }],
    ['ERR_WBP_IN_FLIGHT', { ...ENDPOINT, maxInFlight: null }],
    ['ERR_WBP_ORDERED', { ...ENDPOINT, ordered: 1 }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: true }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: { maxEvents: 501 } }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: { maxEvents: 0 } }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: { maxDelayMs: 60_001 } }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: { maxDelayMs: Number.NaN } }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: { maxBytes: 1_000_001 } }],
    ['ERR_WBP_BATCH', { ...ENDPOINT, batch: {}, ordered: true }],
    ['ERR_WBP_UNKNOWN_OPTION', { ...ENDPOINT, batch: { size: 10 } }],
  ])('throw %s for %o', (code, value) => {
    expect(errorOf(value).code).toBe(code);
  });

  it('are read once, so that a getter cannot change a checked value', () => {
    let reads = 0;
    const value = {
      ...ENDPOINT,
      get maxInFlight() {
        reads += 1;
        return reads === 1 ? 5 : 1_000_000;
      },
    };
    // The first read looks for unknown names.
    expect(() => checked(value)).toThrow('maxInFlight must be');
  });
});
