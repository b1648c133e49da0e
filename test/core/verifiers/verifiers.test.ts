import { type SecretOption, verifiers } from '@webhook-backpressure/inbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cases, hmac, BODY, NOW, OTHER, SECRET, statusOf } from './signed-deliveries.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(Object.entries(cases))('the verifier of %s', (_, { make, sent, isTimed, header }) => {
  const clock = (): number => NOW;

  it('accepts a signed delivery, and rejects any change to it', async () => {
    const genuine = await sent(SECRET, NOW);
    const verify = make(SECRET, clock);
    expect(await statusOf(verify, genuine)).toBe(200);
    expect(await statusOf(verify, { ...genuine, body: `${genuine.body} ` })).toBe(401);
    expect(await statusOf(verify, { ...genuine, body: '' })).toBe(401);
    for (const name of Object.keys(genuine.headers)) {
      const { [name]: value = '', ...others } = genuine.headers;
      expect(await statusOf(verify, { ...genuine, headers: others })).toBe(401);
      if (name === 'content-type') continue;
      for (const forged of [
        '',
        `${value}x`,
        `x${value}`,
        value.slice(0, -4),
        'null',
        '=',
        ',,,',
        'v1,',
        'é',
      ]) {
        const headers = { ...others, [name]: forged };
        expect(await statusOf(verify, { ...genuine, headers }), `${name}: ${forged}`).toBe(401);
      }
    }
  });

  it('rejects a delivery signed with another secret', async () => {
    expect(await statusOf(make(OTHER, clock), await sent(SECRET, NOW))).toBe(401);
  });

  it('accepts several secrets during rotation, and a secret per tenant', async () => {
    for (const secret of [SECRET, OTHER]) {
      const genuine = await sent(secret, NOW);
      expect(await statusOf(make([SECRET, OTHER], clock), genuine)).toBe(200);
      const ofTenant = make(({ params }) => (params['tenant'] === 'a' ? secret : undefined), clock);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'a' } })).toBe(200);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'b' } })).toBe(401);
      expect(
        await statusOf(
          make(() => Promise.resolve([OTHER, SECRET]), clock),
          genuine,
        ),
      ).toBe(200);
    }
  });

  it.each([
    [undefined],
    [''],
    [' \t\r\n'],
    [null],
    [[]],
    [[SECRET, undefined]],
    [['', SECRET]],
    [new Uint8Array()],
    [42],
    [{}],
  ])('throws at construction without a secret: %s', (secret) => {
    expect(() => make(secret as SecretOption)).toThrow(/^verifiers\.\w+\(\{ secret \}\): .*ERR_WBP_SECRET/);
  });

  it.each([[''], [' '], [null], [[]], [[SECRET, undefined]], [new Uint8Array()]])(
    'rejects all deliveries if the function returns no secret: %s',
    async (secret) => {
      const signed = await sent(SECRET, NOW);
      const withEmptyKey = {
        ...signed,
        headers: { ...signed.headers, [header]: hmac('', BODY).digest('hex') },
      };
      const verify = make(() => secret as string, clock);
      expect([await statusOf(verify, signed), await statusOf(verify, withEmptyKey)]).toEqual([401, 401]);
    },
  );

  it('answers 503 if the function rejects with status 503', async () => {
    const unavailable = Object.assign(new Error('no database'), { status: 503 });
    expect(
      await statusOf(
        make(() => Promise.reject(unavailable), clock),
        await sent(SECRET, NOW),
      ),
    ).toBe(503);
  });

  it.runIf(isTimed)('rejects a timestamp more than five minutes away', async () => {
    const genuine = await sent(SECRET, NOW);
    const at = (awayMs: number): Promise<number> =>
      statusOf(
        make(SECRET, () => NOW + awayMs),
        genuine,
      );
    expect(await Promise.all([-300_000, 300_000].map(at))).toEqual([200, 200]);
    expect(await Promise.all([-300_001, 300_001, NaN].map(at))).toEqual([401, 401, 401]);
    vi.spyOn(Date, 'now').mockReturnValue(NOW);
    expect(await statusOf(make(SECRET), genuine)).toBe(200);
  });
});

it('names the verifier without a secret, and what is wrong with the environment variable', () => {
  expect(() => verifiers.stripe({ secret: undefined })).toThrow(
    /^verifiers\.stripe\(\{ secret \}\): secret is missing\. Is the environment variable set, and spelled/,
  );
  expect(() => verifiers.twilio({ secret: ' ', baseUrl: 'https://a.example' })).toThrow(
    /^verifiers\.twilio\(\{ secret \}\): secret is empty or blank\. Has the environment variable a value\?/,
  );
});
