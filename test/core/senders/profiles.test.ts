import { describe, expect, it } from 'vitest';
import { builtInSenders, known, type SenderProfile, resolveSenders } from '@webhook-backpressure/senders';
import { createBench, turnedAway } from '../harness.ts';

const profiles: [string, SenderProfile][] = Object.entries(known);

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

describe.each(profiles)('the profile %s', (key, profile) => {
  it('has a source and the date on which it was checked', () => {
    expect(profile.source).toMatch(/^https:\/\/[\w.-]+/);
    expect(profile.verifiedAt).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Date.parse(profile.verifiedAt)).toBeGreaterThan(Date.parse('2025-01-01'));
  });

  it('has a short name, with which its key begins', () => {
    expect(profile.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(key.startsWith(camelCase(profile.name))).toBe(true);
  });

  it('is accepted by the option senders', () => {
    expect(resolveSenders([profile])).toEqual([profile]);
  });

  it('has lowercase header names', () => {
    const { match, id, handshake } = profile;
    for (const header of [match === 'all' ? undefined : match.header, id, handshake?.header]) {
      if (header !== undefined) expect(header).toBe(header.toLowerCase());
    }
  });

  it('has only stateless patterns anchored to the start', () => {
    const { match } = profile;
    if (match === 'all' || !(match.value instanceof RegExp)) return;
    const { value } = match;
    expect(value.flags).toMatch(/^i?$/);
    expect(value.source).toMatch(/^\^/);
  });

  it('has a timeout of at least a second', () => {
    expect(profile.timeoutMs ?? 1000).toBeGreaterThanOrEqual(1000);
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

describe('the profile of Zendesk', () => {
  it('keeps Retry-After below a minute, since Zendesk retries after no other', () => {
    for (const maxSeconds of [900, 7200]) {
      const { intake } = createBench({ retryAfter: { maxSeconds }, shed: { zendesk: true } });
      const zendesk = { key: 'zendesk', profile: known.zendesk };
      expect(turnedAway(intake.admit(zendesk)).retryAfterSeconds).toBeLessThan(60);
    }
  });
});

describe('profiles of one sender', () => {
  it('differ only in match and id', () => {
    for (const profile of Object.values<SenderProfile>(known)) {
      const first = Object.values<SenderProfile>(known).find(({ name }) => name === profile.name);
      expect({ ...profile, match: undefined, id: undefined }).toEqual({
        ...first,
        match: undefined,
        id: undefined,
      });
    }
  });
});

describe('known', () => {
  it('has the built-in profiles, and profiles for routes', () => {
    const recognized = profiles.flatMap(([, profile]) => (profile.match === 'all' ? [] : [profile]));
    expect(new Set(recognized)).toEqual(new Set(builtInSenders));
    expect(new Set(builtInSenders).size).toBe(builtInSenders.length);
    expect(profiles.length).toBeGreaterThan(recognized.length);
  });

  it('has the first profile of each sender under its plain name', () => {
    for (const { name } of Object.values<SenderProfile>(known)) {
      expect(known).toHaveProperty(camelCase(name));
    }
  });
});
