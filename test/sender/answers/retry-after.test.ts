import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '@webhook-backpressure/sender';

// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
const EXAMPLE_MS = 784_111_777_000;

describe('seconds', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    ['120', 120_000],
    [' 7 ', 7000],
    ['007', 7000],
    ['99999999999', 99_999_999_999_000],
  ])('reads %j', (value, waitMs) => {
    expect(parseRetryAfter(value, EXAMPLE_MS)).toBe(waitMs);
  });

  it('reads any count of digits, as a wait that a limit can shorten', () => {
    expect(parseRetryAfter('9'.repeat(5000), 0)).toBe(Infinity);
  });

  it('reads any integer', () => {
    fc.assert(
      fc.property(fc.nat(), (seconds) => {
        expect(parseRetryAfter(String(seconds), EXAMPLE_MS)).toBe(seconds * 1000);
      }),
    );
  });
});

describe('dates', () => {
  it.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'sun, 06 nov 1994 08:49:37 gmt',
    ' Sun, 06 Nov 1994 08:49:37 GMT ',
  ])('reads %j', (value) => {
    expect(parseRetryAfter(value, EXAMPLE_MS - 90_000)).toBe(90_000);
  });

  it('says 0 for a date in the past', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE_MS + 5000)).toBe(0);
  });

  it('reads a leap second', () => {
    expect(parseRetryAfter('Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2016, 11, 31, 23, 59, 59))).toBe(1000);
  });

  it.each([
    ['77', 2027, 2077],
    ['78', 2027, 1978],
    ['10', 2095, 2110],
  ])('takes the year %s in %i as %i', (year, thisYear, fullYear) => {
    const nowMs = Date.UTC(thisYear, 0);
    const waitMs = parseRetryAfter(`Friday, 01-Jan-${year} 00:00:00 GMT`, nowMs);
    expect(waitMs).toBe(Math.max(0, Date.UTC(fullYear, 0) - nowMs));
  });

  it('reads the dates that servers send for any second', () => {
    const anyMs = fc.integer({ min: 0, max: 253_402_300_799 }).map((seconds) => seconds * 1000);
    fc.assert(
      fc.property(anyMs, (timeMs) => {
        expect(parseRetryAfter(new Date(timeMs).toUTCString(), 0)).toBe(timeMs);
      }),
    );
  });
});

describe('invalid values', () => {
  it.each([
    '',
    ' ',
    '-5',
    '+5',
    '1e9',
    '1.5',
    '0x10',
    '５',
    'soon',
    'Infinity',
    'NaN',
    '1, 2',
    '1 2',
    '1;2',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 PST',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    '06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])('returns null for %j', (value) => {
    expect(parseRetryAfter(value, EXAMPLE_MS)).toBeNull();
  });

  it('returns null for a header of 16 KiB without reading it', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT'.repeat(550), EXAMPLE_MS)).toBeNull();
  });

  it('returns null without a header', () => {
    expect(parseRetryAfter(null, 0)).toBeNull();
    expect(parseRetryAfter(undefined, 0)).toBeNull();
  });

  it('returns null or a time that is not negative, for any text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-zA-Z0-9,: -]{0,40}$/));
    fc.assert(
      fc.property(text, (value) => {
        const waitMs = parseRetryAfter(value, EXAMPLE_MS);
        expect(waitMs === null || waitMs >= 0).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
