import { describe, expect, it } from 'vitest';
import {
  builtInSenders,
  type RequestHeaders,
  type SenderProfile,
  createRecognition,
  idOf,
  isHandshake,
  resolveSenders,
} from '@webhook-backpressure/senders';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import { requests } from './requests.ts';

const builtIn = createRecognition(builtInSenders);
const handshakes = requests.filter(({ what }) =>
  [
    'subscription confirmation',
    'subscription validation',
    'handshake',
    'verification of the callback',
  ].includes(what),
);

function withUsers(...senders: SenderProfile[]): (headers: RequestHeaders) => SenderProfile | undefined {
  const recognition = createRecognition([...resolveSenders(senders), ...builtInSenders]);
  return (headers) => recognition.find(headers);
}

function profile(fields: Partial<SenderProfile> & Pick<SenderProfile, 'match'>): SenderProfile {
  return { name: 'acme', source: 'the handbook of Acme', verifiedAt: '2026-11-20', ...fields };
}

function headersOf(sender: string, what?: string): RequestHeaders {
  const found = requests.find((one) => one.sender === sender && (what === undefined || one.what === what));
  if (found === undefined) throw new Error(`There is no request of ${sender}.`);
  return found.headers;
}

describe('the built-in senders', () => {
  it.each(requests)('$sender: $what', ({ sender, headers, id }) => {
    const found = builtIn.find(headers);
    expect(found?.name).toBe(sender);
    if (found !== undefined) expect(idOf(found, headers)).toBe(id ?? headers[found.id ?? '']);
  });

  it('have a request here for each of their profiles', () => {
    const found = new Set(requests.map(({ headers }) => builtIn.find(headers)));
    expect(builtInSenders.filter((one) => !found.has(one))).toEqual([]);
  });

  it.each([
    ['github', 'x-github-event', 'meta'],
    ['gitea', 'x-gitea-event', 'github'],
    ['meta', 'x-hub-signature-256', 'intercom'],
    ['hubspot-workflows', 'x-hubspot-signature-version', 'hubspot'],
    ['discord-events', 'user-agent', 'discord'],
    ['convoy', 'x-convoy-signature', 'github'],
    ['hookdeck', 'x-hookdeck-eventid', 'stripe'],
  ])('are ordered for shared headers: %s without %s is %s', (sender, header, other) => {
    const without = { ...headersOf(sender), [header]: undefined };
    expect(builtIn.find(without)?.name).toBe(other);
  });

  it('do not depend on the order of the headers', () => {
    for (const { sender, headers } of requests) {
      const reversed = Object.fromEntries(Object.entries(headers).reverse());
      expect(builtIn.find(reversed)?.name).toBe(sender);
    }
  });
});

describe('user profiles', () => {
  it('add senders', () => {
    const find = withUsers(profile({ match: { header: 'X-Acme-Signature' }, id: 'X-Acme-Id' }));
    const headers = { 'x-acme-signature': 'abc', 'x-acme-id': '7' };
    expect(find(headers)?.name).toBe('acme');
    expect(idOf(find(headers), headers)).toBe('7');
    expect(find(headersOf('github'))?.name).toBe('github');
  });

  it('take precedence over built-in profiles, whatever their header', () => {
    const find = withUsers(profile({ name: 'github', match: { header: 'user-agent', value: /^GitHub-/ } }));
    expect(find(headersOf('github'))?.source).toBe('the handbook of Acme');
    expect(find(headersOf('gitea'))?.name).toBe('gitea');
  });

  it('take precedence in their order', () => {
    const first = profile({ name: 'first', match: { header: 'x-a', value: /^v/ } });
    const second = profile({ name: 'second', match: { header: 'x-a', value: 'v1' } });
    const third = profile({ name: 'third', match: { header: 'x-a' } });
    expect(withUsers(first, second, third)({ 'x-a': 'v1' })?.name).toBe('first');
    expect(withUsers(second, first, third)({ 'x-a': 'v1' })?.name).toBe('second');
    expect(withUsers(second, first, third)({ 'x-a': 'v2' })?.name).toBe('first');
    expect(withUsers(third, second, first)({ 'x-a': 'v1' })?.name).toBe('third');
    expect(withUsers(second, first, third)({ 'x-a': 'w' })?.name).toBe('third');
  });

  it('take precedence in their order with the same match', () => {
    for (const value of [undefined, 'v1', /^v1$/]) {
      const [first, second] = ['first', 'second'].map((name) =>
        profile({ name, match: { header: 'x-a', value } }),
      ) as [SenderProfile, SenderProfile];
      expect(withUsers(first, second)({ 'x-a': 'v1' })?.name).toBe('first');
    }
  });

  it('take precedence in their order across headers', () => {
    const first = profile({ name: 'first', match: { header: 'x-a' } });
    const second = profile({ name: 'second', match: { header: 'x-b' } });
    const find = withUsers(first, second);
    expect(find({ 'x-b': '1', 'x-a': '1' })?.name).toBe('first');
    expect(find({ 'x-a': '1', 'x-b': '1' })?.name).toBe('first');
  });

  it('may have patterns with the flags g and y', () => {
    for (const flags of ['g', 'y', 'gi']) {
      const find = withUsers(profile({ match: { header: 'x-a', value: new RegExp('v1', flags) } }));
      for (let i = 0; i < 3; i += 1) expect(find({ 'x-a': 'v1' })?.name, flags).toBe('acme');
    }
  });

  it('match one value exactly', () => {
    const find = withUsers(profile({ match: { header: 'x-a', value: 'v1' } }));
    expect(find({ 'x-a': 'v1' })?.name).toBe('acme');
    expect(find({ 'x-a': 'v1 ' })).toBeUndefined();
    expect(find({ 'x-a': 'V1' })).toBeUndefined();
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'may match on a header called %s',
    (header) => {
      const find = withUsers(profile({ match: { header }, id: header }));
      expect(find({})).toBeUndefined();
      expect(idOf(profile({ match: { header }, id: header }), {})).toBeUndefined();
      const headers = JSON.parse(`{"${header.toLowerCase()}":"1"}`) as RequestHeaders;
      expect(find(headers)?.name).toBe('acme');
    },
  );
});

describe('a repeated header', () => {
  it('matches by its first value', () => {
    const find = withUsers(profile({ match: { header: 'x-a', value: 'v1' } }));
    expect(find({ 'x-a': ['v1', 'v2'] })?.name).toBe('acme');
    expect(find({ 'x-a': ['v2', 'v1'] })).toBeUndefined();
    expect(find({ 'x-a': [] })).toBeUndefined();
    expect(idOf(undefined, { 'webhook-id': ['a', 'b'] })).toBe('a');
    expect(idOf(undefined, { 'webhook-id': '', 'idempotency-key': 'c' })).toBe('c');
    expect(idOf(undefined, { 'webhook-id': 'a', 'idempotency-key': 'c' })).toBe('a');
  });
});

describe('the delivery id', () => {
  it('is webhook-id if the profile has no other', () => {
    expect(idOf(undefined, { 'webhook-id': 'a' })).toBe('a');
    expect(idOf(profile({ match: { header: 'x-a' } }), { 'webhook-id': 'a' })).toBe('a');
    expect(idOf(profile({ match: { header: 'x-a' }, id: 'x-id' }), { 'webhook-id': 'a' })).toBe('a');
  });

  it("is taken from the profile's header first", () => {
    expect(idOf(profile({ match: { header: 'x-a' }, id: 'x-id' }), { 'webhook-id': 'a', 'x-id': 'b' })).toBe(
      'b',
    );
  });

  it('is never empty', () => {
    expect(idOf(undefined, { 'webhook-id': '' })).toBeUndefined();
    expect(idOf(profile({ match: { header: 'x-a' }, id: 'x-id' }), { 'x-id': '' })).toBeUndefined();
  });
});

describe('a handshake', () => {
  it.each(handshakes)('of $sender is distinguished from a delivery', ({ sender, headers }) => {
    const found = builtIn.find(headers) as SenderProfile;
    expect(isHandshake(found, headers)).toBe(true);
    const deliveries = requests.filter((one) => one.sender === sender && !handshakes.includes(one));
    expect(deliveries).not.toEqual([]);
    for (const delivery of deliveries) expect(isHandshake(found, delivery.headers)).toBe(false);
  });

  it('is recognized by the presence of a header or by a pattern', () => {
    const there = profile({ match: { header: 'x-a' }, handshake: { header: 'x-hook-secret' } });
    expect(isHandshake(there, { 'x-a': '1' })).toBe(false);
    expect(isHandshake(there, { 'x-a': '1', 'x-hook-secret': 's' })).toBe(true);
    const pattern = profile({ match: { header: 'x-a' }, handshake: { value: /^verify/ } });
    expect(isHandshake(pattern, { 'x-a': 'verify:1' })).toBe(true);
    expect(isHandshake(pattern, { 'x-a': 'event:1' })).toBe(false);
  });

  it('is not recognized in any other request', () => {
    for (const { headers } of requests.filter((one) => !handshakes.includes(one))) {
      const found = builtIn.find(headers);
      expect(found !== undefined && isHandshake(found, headers)).toBe(false);
    }
  });
});

describe('the delivery of a profile', () => {
  it('has its key, id, maximum wait, status, retries and profile', () => {
    const headers = headersOf('github');
    const github = builtIn.find(headers) as SenderProfile;
    expect(deliveryOf(github, headers)).toEqual({
      key: 'github',
      id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      maxWaitMs: 9500,
      statusCode: undefined,
      retries: false,
      handshake: false,
      profile: github,
    });
  });

  it('has no values for unknown facts', () => {
    const headers = headersOf('sendgrid-parse');
    const { maxWaitMs, retries, statusCode } = deliveryOf(builtIn.find(headers) as SenderProfile, headers);
    expect({ maxWaitMs, retries, statusCode }).toEqual({
      maxWaitMs: undefined,
      retries: undefined,
      statusCode: 503,
    });
  });

  it.each([
    [10_000, 8000],
    [3000, 2400],
    [2500, 2000],
    [2000, 1500],
    [600, 100],
    [300, 0],
  ])('waits less than the timeout of its sender: %d ms gives %d ms', (timeoutMs, maxWaitMs) => {
    const { maxWaitMs: wait } = deliveryOf(profile({ match: { header: 'x-a' }, timeoutMs }), {});
    expect(wait).toBe(maxWaitMs);
  });

  it.each([
    [10_000, 9500],
    [1000, 500],
    [300, 0],
  ])('waits until just before the timeout of a sender that never retries: %d, %d', (timeoutMs, maxWaitMs) => {
    const sender = profile({ match: { header: 'x-a' }, timeoutMs, retries: 'none' });
    expect(deliveryOf(sender, {}).maxWaitMs).toBe(maxWaitMs);
  });
});
