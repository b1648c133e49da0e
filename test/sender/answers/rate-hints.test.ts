import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { IntakeGlance } from '../../../packages/core/src/delivery/snapshot.ts';
import { rateLimitFields } from '../../../packages/core/src/refusals/rate-limit-fields.ts';
import { rateHints } from '../../../packages/sender/src/answers/rate-hints.ts';
import type { RateHints } from '../../../packages/sender/src/answers/rate-hints.ts';

const NOW_MS = 1_800_000_000_000;

// Of the other fields, the headers use none.
const glance = { state: 'accepting', highWater: 800, drainRate: 100 } as IntakeGlance;

function read(headers: Readonly<Record<string, string>>): RateHints | undefined {
  const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return rateHints(
    (name) => names.get(name),
    () => NOW_MS,
  );
}

describe('RateLimit of draft 8', () => {
  it('takes the limit with nothing left, wherever it is', () => {
    expect(read({ RateLimit: '"a";r=0;t=3, "b";r=5;t=9' })).toEqual({ remaining: 0, resetMs: 3000 });
    expect(read({ RateLimit: '"a";r=5;t=9, "b";r=0;t=3' })).toEqual({ remaining: 0, resetMs: 3000 });
  });

  it('ignores a field that is longer than any server sends', () => {
    const long = '"a";r=5;t=30'.padEnd(1000);
    expect(read({ RateLimit: long })).toEqual({ remaining: 5, resetMs: 30_000 });
    expect(read({ RateLimit: `${long} ` })).toBeUndefined();
  });

  it('reads the headers of our receiver', () => {
    const headers = rateLimitFields({ ...glance, depth: 30 }, { standard: true, legacy: false }, undefined);
    expect(read(headers)).toEqual({ remaining: 770, resetMs: 1000 });
    const full: IntakeGlance = { ...glance, state: 'shedding', depth: 800 };
    expect(read(rateLimitFields(full, { standard: true, legacy: false }, undefined))).toEqual({
      remaining: 0,
      resetMs: 8000,
    });
  });

  it.each([
    ['"a";r=5;t=30', 5, 30_000],
    ['"a"; t=30 ;r=5', 5, 30_000],
    ['default;r=5;t=30', 5, 30_000],
    ['"a";pk=:cHsdsRa894==:;r=5;t=30', 5, 30_000],
    ['"with, comma; r=0; t=9";r=5;t=30', 5, 30_000],
    ['"with \\"quotes\\", r=0";r=5;t=30', 5, 30_000],
    ['"a";r=0;t=0', 0, 0],
    ['"a";r=5;t=30;remaining=0;reset=9', 5, 30_000],
  ])('reads %j', (field, remaining, resetMs) => {
    expect(read({ RateLimit: field })).toEqual({ remaining, resetMs });
  });

  it.each([
    ['takes the longest reset of limits that are used up', '"a";r=0;t=5, "b";r=0;t=60, "c";r=1;t=999', 0, 60],
    ['takes it also if it is the first one', '"a";r=0;t=60, "b";r=0;t=5', 0, 60],
    ['takes the first one if its rate is the lowest', '"day";r=100;t=3600, "second";r=10;t=1', 100, 3600],
    ['takes the lowest rate of the others', '"second";r=10;t=1, "day";r=100;t=3600', 100, 3600],
    ['ignores a limit without a reset', '"a";r=0, "b";r=8;t=2', 8, 2],
  ])('%s', (_, field, remaining, resetS) => {
    expect(read({ RateLimit: field })).toEqual({ remaining, resetMs: resetS * 1000 });
  });
});

describe('older headers', () => {
  it.each<[string, Record<string, string>, number, number]>([
    ['draft 7', { RateLimit: 'limit=100, remaining=4, reset=50' }, 4, 50_000],
    [
      'drafts 0 to 6',
      { 'RateLimit-Limit': '9', 'RateLimit-Remaining': '4', 'RateLimit-Reset': '50' },
      4,
      50_000,
    ],
    ['seconds from now', { 'X-RateLimit-Remaining': '4', 'X-RateLimit-Reset': '50' }, 4, 50_000],
    ['a Unix time', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1800000009' }, 0, 9000],
    [
      'a Unix time with a fraction',
      { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1800000009.25' },
      0,
      9250,
    ],
    [
      'a Unix time in milliseconds',
      { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1800000009123' },
      0,
      9123,
    ],
    ['a Unix time in the past', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1799999999' }, 0, 0],
  ])('reads %s', (_, headers, remaining, resetMs) => {
    expect(read(headers)).toEqual({ remaining, resetMs });
  });

  it('reads the headers of our receiver with a Unix time', () => {
    vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] });
    try {
      const headers = rateLimitFields(
        { ...glance, depth: 450 },
        { standard: false, legacy: true },
        undefined,
      );
      expect(read(headers)).toEqual({ remaining: 350, resetMs: 5000 });
    } finally {
      vi.useRealTimers();
    }
  });

  it('prefers the newest', () => {
    const old = { 'X-RateLimit-Remaining': '1', 'X-RateLimit-Reset': '1' };
    const middle = { 'RateLimit-Remaining': '2', 'RateLimit-Reset': '2' };
    expect(read({ ...old, ...middle, RateLimit: '"a";r=3;t=3' })).toEqual({ remaining: 3, resetMs: 3000 });
    expect(read({ ...old, ...middle, RateLimit: 'garbage' })).toEqual({ remaining: 2, resetMs: 2000 });
  });
});

describe('garbage', () => {
  it.each<Record<string, string>>([
    {},
    { RateLimit: '' },
    { RateLimit: '"a"' },
    { RateLimit: '"a";r=-1;t=5' },
    { RateLimit: '"a";r=1.5;t=5' },
    { RateLimit: '"a";r=0;t=1e9' },
    { RateLimit: '"a;r=0;t=5' },
    { RateLimit: '"a";xr=0;xt=5' },
    { RateLimit: `"a";r=0;t=${'9'.repeat(100)}` },
    { 'RateLimit-Remaining': '0' },
    { 'RateLimit-Reset': '5' },
    { 'X-RateLimit-Remaining': 'none', 'X-RateLimit-Reset': 'soon' },
    { 'X-RateLimit-Remaining': '-1', 'X-RateLimit-Reset': '5' },
    { 'X-RateLimit-Remaining': '0, 0', 'X-RateLimit-Reset': '5, 5' },
  ])('says nothing about %j', (headers) => {
    expect(read(headers)).toBeUndefined();
  });

  it('never throws, and never returns a negative or endless figure', () => {
    const piece = fc.constantFrom(
      '"',
      '\\',
      ',',
      ';',
      '=',
      ' ',
      'r',
      't',
      'r=0',
      't=5',
      '"a"',
      '1',
      '-',
      'limit',
      'remaining=1',
      'reset=2',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, text, text, (field, remaining, reset) => {
        for (const prefix of ['RateLimit', 'X-RateLimit']) {
          const hints = read({
            RateLimit: field,
            [`${prefix}-Remaining`]: remaining,
            [`${prefix}-Reset`]: reset,
          });
          if (!hints) continue;
          expect(Number.isSafeInteger(hints.remaining) && hints.remaining >= 0).toBe(true);
          expect(Number.isFinite(hints.resetMs) && hints.resetMs >= 0).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('reads headers of 16 KiB in linear time', () => {
    const startedMs = performance.now();
    for (const bad of ['"', '"\\', '"a";', ';r=', ' ', ',"']) read({ RateLimit: bad.repeat(8000) });
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });
});
