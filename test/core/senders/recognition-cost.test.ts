import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  builtInSenders,
  type RequestHeaders,
  type SenderProfile,
  createRecognition,
  type Recognition,
} from '@webhook-backpressure/senders';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import { requests } from './requests.ts';

const builtIn = createRecognition(builtInSenders);

/** User profiles, each with its own header: present, exact or by pattern. */
function invented(count: number): SenderProfile[] {
  const values = [undefined, 'v1', /^v1,/];
  return Array.from({ length: count }, (_, i) => ({
    name: `sender-${String(i)}`,
    match: { header: `x-sender-${String(i)}`, value: values[i % 3] },
    source: 'invented',
    verifiedAt: '2026-11-20',
  }));
}

interface Steps {
  /** The number of header values read. */
  readonly reads: number;
  readonly lookups: number;
  readonly patterns: number;
}

function stepsOf(recognition: Recognition, headers: RequestHeaders): Steps {
  let reads = 0;
  const watched = new Proxy(headers, {
    get(target, name, receiver): unknown {
      reads += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const get = vi.spyOn(Map.prototype, 'get');
  const test = vi.spyOn(RegExp.prototype, 'test');
  recognition.find(watched);
  const steps = { reads, lookups: get.mock.calls.length, patterns: test.mock.calls.length };
  vi.restoreAllMocks();
  return steps;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the cost of recognition', () => {
  it('is the same with 10 profiles and with 10,000', () => {
    const [few, many] = [10, 10_000].map((count) =>
      createRecognition([...invented(count), ...builtInSenders]),
    ) as [Recognition, Recognition];
    for (const { headers } of requests) {
      const steps = stepsOf(few, headers);
      expect(steps.lookups).toBeGreaterThan(0);
      expect(stepsOf(many, headers)).toEqual(steps);
    }
  });

  it('is the same with 10,000 profiles that match on one header by value', () => {
    const byValue = (count: number): Recognition =>
      createRecognition(
        invented(count).map((one) => ({ ...one, match: { header: 'user-agent', value: one.name } })),
      );
    const headers = { 'user-agent': 'sender-9', 'content-type': 'application/json' };
    expect(stepsOf(byValue(10_000), headers)).toEqual(stepsOf(byValue(10), headers));
  });

  it('is at most two lookups per header and the few patterns for that header', () => {
    for (const { headers } of requests) {
      const { reads, lookups, patterns } = stepsOf(builtIn, headers);
      const count = Object.keys(headers).length;
      expect(reads).toBeLessThanOrEqual(count);
      expect(lookups).toBeLessThanOrEqual(2 * count);
      expect(patterns).toBeLessThanOrEqual(5);
    }
  });

  it('is bounded for any number of headers', () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x-header-${String(i)}`, 'v']));
    expect(stepsOf(builtIn, many).lookups).toBe(128);
    expect(builtIn.find({ ...many, 'x-github-event': 'push' })).toBeUndefined();
    expect(builtIn.find({ 'x-github-event': 'push', ...many })?.name).toBe('github');
  });

  it('is bounded for long values: patterns see the first 1,024 characters', () => {
    const seen: number[] = [];
    class Watched extends RegExp {
      override test(value: string): boolean {
        seen.push(value.length);
        return super.test(value);
      }
    }
    const [acme] = invented(1) as [SenderProfile];
    const recognition = createRecognition([{ ...acme, match: { header: 'x-a', value: new Watched('b') } }]);
    expect(recognition.find({ 'x-a': `${'a'.repeat(1024)}b` })).toBeUndefined();
    expect(recognition.find({ 'x-a': `${'a'.repeat(1023)}b` })?.name).toBe('sender-0');
    expect(seen).toEqual([1024, 1024]);
  });
});

describe('recognition of arbitrary headers', () => {
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom(...builtInSenders.map(({ match }) => match.header), 'webhook-id'),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'valueOf', '0'),
  );
  const values = fc.oneof(
    fc.string({ maxLength: 3000 }),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.constant(undefined),
    // No server does this, but a caller may.
    fc.anything(),
  );
  // Built by assignment, as node:http does, and by definition, so that `__proto__` is an ordinary name.
  const assigned = fc.array(fc.tuple(names, values)).map((entries) => {
    const headers: Record<string, unknown> = {};
    for (const [name, value] of entries) headers[name] = value;
    return headers;
  });
  const defined = fc.array(fc.tuple(names, values)).map((entries) => Object.fromEntries(entries));

  it('never throws, and returns a delivery whose id is a string or undefined', () => {
    fc.assert(
      fc.property(fc.oneof(assigned, defined), (any) => {
        const headers = any as RequestHeaders;
        const profile = builtIn.find(headers);
        if (profile === undefined) return;
        const { key, id, handshake } = deliveryOf(profile, headers);
        expect(key).toBe(profile.name);
        expect(typeof handshake).toBe('boolean');
        if (id !== undefined) expect(id).toMatch(/./su);
      }),
      { numRuns: 500 },
    );
  });
});
