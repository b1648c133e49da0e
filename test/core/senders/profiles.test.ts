import { describe, expect, it } from 'vitest';
import { builtInSenders } from '@webhook-backpressure/core';

const profiles = builtInSenders.map((profile) => [profile.name, profile] as const);

describe.each(profiles)('the profile of %s', (name, profile) => {
  it('has a source and the date on which it was checked', () => {
    expect(profile.source).toMatch(/^https:\/\/[\w.-]+/);
    expect(profile.verifiedAt).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Date.parse(profile.verifiedAt)).toBeGreaterThan(Date.parse('2025-01-01'));
  });

  it('has a short name', () => {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it('has lowercase header names', () => {
    const { match, id, handshake } = profile;
    for (const header of [match.header, id, handshake?.header]) {
      if (header !== undefined) expect(header).toBe(header.toLowerCase());
    }
  });

  it('has only stateless patterns anchored to the start', () => {
    const { value } = profile.match;
    if (!(value instanceof RegExp)) return;
    expect(value.flags).toMatch(/^i?$/);
    expect(value.source).toMatch(/^\^/);
  });

  it('has whole seconds of timeout', () => {
    expect((profile.timeoutMs ?? 0) % 1000).toBe(0);
  });

  it('has a schedule that ends with its attempts or its window', () => {
    const { retries } = profile;
    if (typeof retries !== 'object') return;
    const { maxAttempts, scheduleS = [], windowS } = retries;
    expect(maxAttempts ?? windowS).toBeDefined();
    if (maxAttempts !== undefined) expect(scheduleS.length).toBeLessThan(maxAttempts);
    if (windowS !== undefined) expect(scheduleS.reduce((sum, s) => sum + s, 0)).toBeLessThanOrEqual(windowS);
  });

  it('refuses with a status after which the sender retries', () => {
    const { status, retries } = profile;
    const after = typeof retries === 'object' ? retries.after : undefined;
    if (after === undefined || (after.includes(429) && after.includes(503))) return;
    expect(after).toContain(status);
  });
});

describe('profiles of one sender', () => {
  it('differ only in match and id', () => {
    for (const [name, profile] of profiles) {
      const [first] = builtInSenders.filter((one) => one.name === name);
      expect({ ...profile, match: undefined, id: undefined }).toEqual({
        ...first,
        match: undefined,
        id: undefined,
      });
    }
  });
});
