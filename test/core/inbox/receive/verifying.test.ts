import { inspect } from 'node:util';
import { type InboxAnswer, memoryStore, throwing } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

describe('verify', () => {
  const no: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('bad');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad'))],
    ...[
      ...[undefined, false, null, 0, -0, 0n, NaN, '', []],
      ...[
        { valid: false },
        { isValid: false },
        { ok: 0 },
        { success: false, data: {} },
        { verified: undefined },
        { isVerified: false },
        { data: null, error: 'bad signature' },
        [false],
        Object(false) as object,
      ],
      ...[
        Object.create({ valid: false }) as object,
        new Response(null, { status: 401 }),
        new Error('returned, not thrown'),
      ],
      ...[() => true, Symbol('yes'), { valid: true, ok: false }],
    ].flatMap((said: unknown): [string, () => unknown][] => [
      [`returns ${inspect(said)}`, () => said],
      [`resolves with ${inspect(said)}`, () => Promise.resolve(said)],
    ]),
  ];

  it.each(no)('answers 401 and stores nothing when it %s', async (_, verify) => {
    const store = memoryStore();
    let puts = 0;
    const put = store.put.bind(store);
    store.put = (...args) => {
      puts += 1;
      return put(...args);
    };
    const bench = new InboxBench({ store, verify });
    const errors: string[] = [];
    bench.inbox.subscribe((event) => event.type === 'unverified' && errors.push(event.error));
    const answer = await bench.deliver('a');
    expect(answer.status).toBe(401);
    expect(errors).toEqual([expect.stringMatching(/^(bad|verify returned .)/)]);
    expect(answer.headers['Content-Type']).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(answer.body)).toMatchObject({ status: 401 });
    expect([puts, bench.inbox.snapshot().totals.unverified]).toEqual([0, 1]);
  });

  it.each([
    true,
    1,
    'a',
    {},
    [1],
    { valid: true },
    { success: 'yes' },
    Object.create(null) as object,
    new Response(),
  ])('accepts a delivery when it returns %s', async (said) => {
    expect((await new InboxBench({ verify: () => said }).deliver('a')).status).toBe(200);
    expect((await new InboxBench({ verify: () => Promise.resolve(said) }).deliver('a')).status).toBe(200);
  });

  it('gets the raw bytes and the headers, and accepts the delivery by returning true', async () => {
    const seen: unknown[] = [];
    const bench = new InboxBench({
      verify: ({ rawBody, headers, text }) => {
        seen.push([...rawBody], headers['webhook-id'], text());
        return true;
      },
    });
    expect((await bench.deliver('a', 'é')).status).toBe(200);
    expect(seen).toEqual([[0xc3, 0xa9], 'a', 'é']);
  });

  it('cannot change the headers', async () => {
    const bench = new InboxBench({
      verify: ({ headers }) => {
        (headers as Record<string, string>)['x-user'] = 'admin';
        return true;
      },
    });
    expect((await bench.deliver('a', '{}', { 'x-user': 'unknown' })).status).toBe(401);
  });
});

describe('throwing(verify)', () => {
  const forged = new Error('forged');

  it.each([undefined, null, 0, '', [], { success: false }, true])(
    'accepts a delivery when verify returns %s',
    async (said) => {
      expect((await new InboxBench({ verify: throwing(() => said) }).deliver('a')).status).toBe(200);
      expect(
        (await new InboxBench({ verify: throwing(() => Promise.resolve(said)) }).deliver('a')).status,
      ).toBe(200);
    },
  );

  it.each([
    [
      'throws',
      () => {
        throw forged;
      },
    ],
    ['rejects', () => Promise.reject(forged)],
    // Wrapped by mistake: this verifier does not throw, and must not accept every delivery.
    ['returns false', () => false],
    ['resolves with false', () => Promise.resolve(false)],
  ])('answers 401 when verify %s', async (_, verify) => {
    expect((await new InboxBench({ verify: throwing(verify) }).deliver('a')).status).toBe(401);
  });

  it('answers 503 when verify cannot decide', async () => {
    const verify = throwing(() => Promise.reject(Object.assign(new Error('no keys'), { status: 503 })));
    expect((await new InboxBench({ verify }).deliver('a')).status).toBe(503);
  });

  it('rejects anything but a function', () => {
    expect(() => throwing(undefined as never)).toThrow(
      /^The argument of throwing\(\) must be a function.*ERR_WBP_VERIFY/,
    );
  });
});

describe('a verify that cannot decide', () => {
  const unavailable = Object.assign(new Error('no keys'), { status: 503 });

  it.each([
    [
      'throws',
      () => {
        throw unavailable;
      },
    ],
    ['rejects', () => Promise.reject(unavailable)],
  ])(
    'has the delivery refused with 503 and Retry-After when it %s an error with the status 503',
    async (_, verify) => {
      const bench = new InboxBench({ verify });
      const answer = await bench.deliver('a');
      expect([answer.status, answer.headers['Retry-After']]).toEqual([503, '5']);
      expect(JSON.parse(answer.body)).toMatchObject({ reason: 'pressure' });
      expect(bench.events).toMatchObject([
        { type: 'verify-failed', key: 'default', error: 'no keys' },
        { type: 'refused', reason: 'pressure' },
      ]);
      expect(bench.inbox.snapshot().totals).toMatchObject({
        stored: 0,
        unverified: 0,
        refused: { pressure: 1 },
      });
    },
  );

  it.each([
    Object.assign(new Error('gone'), { status: 410 }),
    Object.assign(new Error('as text'), { status: '503' }),
    Object.assign(new Error('elsewhere'), { code: 503 }),
    new Error('status: 503'),
  ])('has the delivery answered with 401 without that status: %s', async (thrown) => {
    const bench = new InboxBench({ verify: () => Promise.reject(thrown) });
    expect((await bench.deliver('a')).status).toBe(401);
    expect(bench.told('unverified', 'verify-failed')).toEqual(['unverified']);
  });
});

describe('a verify that takes too long', () => {
  const handshake = vi.fn(() => undefined);

  function hanging(): { bench: InboxBench; ends: ((verdict?: unknown) => void)[] } {
    const ends: ((verdict?: unknown) => void)[] = [];
    const verify = (): Promise<unknown> => new Promise((resolve) => ends.push(resolve));
    return { bench: new InboxBench({ verify, handshake }), ends };
  }

  it.each([true, false])(
    'has the delivery refused in time, and its late result, %s, ignored',
    async (verdict) => {
      const { bench, ends } = hanging();
      const receiving = bench.send('a');
      await turns();
      await bench.advance(9000);
      const answer = await receiving;
      expect([answer?.status, JSON.parse(answer?.body ?? '')]).toMatchObject([503, { reason: 'wait' }]);
      ends[0]?.(verdict);
      await turns();
      expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 0, unverified: 0, refused: { wait: 1 } });
      expect(bench.told('unverified', 'stored')).toEqual([]);
      expect(handshake).not.toHaveBeenCalled();
    },
  );

  it('frees the memory of the bodies', async () => {
    const { bench, ends } = hanging();
    const mebibyte = 'x'.repeat(1024 * 1024);
    for (let round = 0; round < 3; round += 1) {
      const receiving = Array.from({ length: 50 }, () => bench.send(undefined, mebibyte));
      await turns();
      expect(ends).toHaveLength((round + 1) * 50);
      await bench.advance(9000);
      for (const answer of await Promise.all(receiving)) expect(answer?.body).toContain('"wait"');
    }
  });

  it('frees the slots of handshakes', async () => {
    let verdict: unknown = true;
    const bench = new InboxBench({ capacity: 10, concurrency: 1, verify: () => verdict });
    for (let at = 0; at < 8; at += 1) await bench.deliver(String(at));
    expect((await bench.deliver('more')).status).toBe(503);
    verdict = new Promise(() => undefined);
    const handshake = (): Promise<InboxAnswer | null> =>
      bench.send(undefined, '[{"data":{"validationCode":"v1"}}]', {
        'aeg-event-type': 'SubscriptionValidation',
      });
    const hanging = Array.from({ length: 5 }, handshake);
    await bench.advance(25_000);
    for (const answer of await Promise.all(hanging)) expect(answer?.body).toContain('"wait"');
    verdict = true;
    expect((await handshake())?.status).toBe(200);
  });
});
