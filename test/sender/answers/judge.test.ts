import { describe, expect, it } from 'vitest';
import { judge } from '../../../packages/sender/src/answers/judge.ts';
import type { Judgment } from '../../../packages/sender/src/answers/judge.ts';
import { RequestFailure, type RequestFailureKind } from '../../../packages/sender/src/requests/request.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

interface Given {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBatch?: boolean;
}

function judged(status: number, { headers = {}, body = '', isBatch = false }: Given = {}): Judgment {
  const answer = {
    status,
    header: (name: string): string | undefined => headers[name],
    body: new TextEncoder().encode(body),
  };
  return judge(answer, { nowMs: NOW_MS, maxWaitMs: DAY_MS, isBatch });
}

describe('without Retry-After', () => {
  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [199, 'down'],
    [300, 'failed'],
    [301, 'failed'],
    [307, 'failed'],
    [400, 'final'],
    [401, 'final'],
    [404, 'final'],
    [408, 'failed'],
    [409, 'failed'],
    [410, 'gone'],
    [413, 'too-much'],
    [418, 'final'],
    [422, 'too-much'],
    [425, 'failed'],
    [429, 'limited'],
    [500, 'down'],
    [502, 'down'],
    [503, 'down'],
    [504, 'down'],
    [599, 'down'],
    [999, 'down'],
  ])('takes %i as %s', (status, kind) => {
    const { outcome, isClamped } = judged(status);
    expect(outcome.kind).toBe(kind);
    expect(isClamped).toBe(false);
    if (outcome.kind === 'limited') expect(outcome.waitMs).toBeUndefined();
  });

  it.each<RequestFailureKind>(['timeout', 'connection', 'address', 'invalid'])(
    'takes a failure by %s as down',
    (kind) => {
      const failure = new RequestFailure(kind, `${kind}: no answer`);
      expect(judge(failure, { nowMs: NOW_MS, maxWaitMs: DAY_MS, isBatch: false })).toEqual({
        outcome: { kind: 'down' },
        hints: undefined,
        isClamped: false,
        error: `${kind}: no answer`,
      });
    },
  );
});

describe('with Retry-After', () => {
  it.each([300, 301, 408, 409, 425, 429, 500, 502, 503, 504])('waits after %i', (status) => {
    expect(judged(status, { headers: { 'retry-after': '30' } }).outcome).toEqual({
      kind: 'limited',
      waitMs: 30_000,
    });
  });

  it.each([
    [400, 'final'],
    [404, 'final'],
    [410, 'gone'],
    [413, 'too-much'],
    [422, 'too-much'],
    [200, 'delivered'],
    [202, 'delivered'],
  ])('does not wait after %i', (status, kind) => {
    expect(judged(status, { headers: { 'retry-after': '30' } }).outcome.kind).toBe(kind);
  });

  it.each([
    ['0', 0, false],
    [String(DAY_MS / 1000), DAY_MS, false],
    [String(DAY_MS / 1000 + 1), DAY_MS, true],
    ['1000000000', DAY_MS, true],
    ['9'.repeat(400), DAY_MS, true],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000, false],
    ['Fri, 01 Jan 2100 00:00:00 GMT', DAY_MS, true],
    ['Thu, 01 Jan 2026 00:00:00 GMT', undefined, true],
    ['Wed, 31 Dec 2025 00:00:00 GMT', undefined, true],
    ['Thu, 01 Jan 2026 00:01:00', undefined, true],
    ['-5', undefined, true],
    ['1e9', undefined, true],
    ['soon', undefined, true],
    ['', undefined, true],
    ['30, 60', undefined, true],
  ])('reads %j as a wait of %j ms, clamped: %j', (value, waitMs, isClamped) => {
    const judgment = judged(503, { headers: { 'retry-after': value } });
    expect(judgment.outcome).toEqual({ kind: 'limited', waitMs });
    expect(judgment.isClamped).toBe(isClamped);
  });

  it('does not read it after a success', () => {
    expect(judged(200, { headers: { 'retry-after': 'soon' } }).isClamped).toBe(false);
  });

  it('measures a date from the date of the answer, whatever the clock of this process says', () => {
    const headers = { 'retry-after': 'Sat, 03 Jan 2026 10:00:30 GMT', date: 'Sat, 03 Jan 2026 10:00:00 GMT' };
    expect(judged(429, { headers }).outcome).toEqual({ kind: 'limited', waitMs: 30_000 });
  });
});

describe('hints', () => {
  it('come with any answer', () => {
    for (const status of [200, 400, 429, 500]) {
      const { hints } = judged(status, { headers: { ratelimit: '"a";r=3;t=4' } });
      expect(hints).toEqual({ remaining: 3, resetMs: 4000 });
    }
    expect(judged(200).hints).toBeUndefined();
  });

  it('ask for no more than the longest wait', () => {
    expect(judged(200, { headers: { ratelimit: '"a";r=0;t=999999999' } }).hints?.resetMs).toBe(DAY_MS);
  });
});

describe('a batch', () => {
  it('fails the events that a 207 names', () => {
    const given = { isBatch: true, body: '{"failed":["a","b"],"more":1}' };
    expect(judged(207, given).outcome).toEqual({ kind: 'delivered', failedIds: ['a', 'b'] });
    expect(judged(207, { ...given, body: '{"failed":[]}' }).outcome).toEqual({
      kind: 'delivered',
      failedIds: [],
    });
  });

  it.each(['', 'OK', '[]', 'null', '{}', '{"failed":"a"}', '{"failed":[1]}', '{"failed":["a"', '\u0000'])(
    'fails after a 207 with %j, which says of no event that it arrived',
    (body) => {
      const { outcome, error } = judged(207, { isBatch: true, body });
      expect(outcome).toEqual({ kind: 'failed' });
      expect(error).toContain('HTTP 207 without a list');
    },
  );

  it('is delivered by another 2xx, and one event by a 207', () => {
    expect(judged(200, { isBatch: true, body: '{"failed":["a"]}' }).outcome).toEqual({
      kind: 'delivered',
      failedIds: [],
    });
    expect(judged(207, { body: '{"failed":["a"]}' }).outcome).toEqual({ kind: 'delivered', failedIds: [] });
  });
});

describe('the error', () => {
  it('names the status, and is empty for success', () => {
    expect(judged(200).error).toBe('');
    expect(judged(500).error).toBe('HTTP 500');
    expect(judged(400).error).toBe('HTTP 400');
    expect(judged(300).error).toContain('redirects');
    expect(judged(302, { headers: { location: 'https://other.example/?token=1' } }).error).toBe(
      'HTTP 302: redirects are not followed.',
    );
  });

  it('contains nothing of the body, which can echo secrets', () => {
    expect(judged(500, { body: 'authorization: Bearer abc' }).error).not.toContain('abc');
  });

  it('is at most 4,096 characters long', () => {
    const failure = new RequestFailure('connection', 'x'.repeat(10_000));
    expect(judge(failure, { nowMs: 0, maxWaitMs: 1, isBatch: false }).error).toHaveLength(4096);
  });
});
