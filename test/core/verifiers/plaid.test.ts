import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type Verifier, verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { BODY, NOW, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

interface SentByPlaid {
  readonly header?: object;
  readonly claims?: object;
  readonly key?: KeyObject;
  readonly body?: string;
}

describe('the verifier of Plaid', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const KEY_ID = 'bfbd5111-8e33-4643-8ced-b2e642a72f3c';
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', expired_at: null };

  function sent({ header = {}, claims = {}, key = pair.privateKey, body = BODY }: SentByPlaid = {}): Sent {
    const hash = createHash('sha256').update(BODY).digest('hex');
    const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const signed = [
      encoded({ alg: 'ES256', kid: KEY_ID, typ: 'JWT', ...header }),
      encoded({ iat: NOW / 1000, request_body_sha256: hash, ...claims }),
    ].join('.');
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return { body, headers: { 'plaid-verification': `${signed}.${signature.toString('base64url')}` } };
  }

  function verifierWith(getKey: (id: string) => unknown, wallClock = (): number => NOW): Verifier {
    return verifiers.plaid({ getKey, wallClock });
  }

  it('accepts a signed delivery, and asks for its key once', async () => {
    const getKey = vi.fn(() => Promise.resolve(jwk));
    const verify = verifierWith(getKey);
    for (let at = 0; at < 3; at += 1) expect(await statusOf(verify, sent())).toBe(200);
    expect(getKey.mock.calls).toEqual([[KEY_ID]]);
  });

  const forged: readonly (readonly [title: string, delivery: Sent])[] = [
    ['another body', sent({ body: `${BODY} ` })],
    ['no body', sent({ body: '' })],
    ['another algorithm', sent({ header: { alg: 'HS256' } })],
    ['no algorithm', sent({ header: { alg: 'none' } })],
    ['no key id', sent({ header: { kid: undefined } })],
    ['a path for a key id', sent({ header: { kid: '../x' } })],
    ['another key', sent({ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey })],
    ['an old token', sent({ claims: { iat: NOW / 1000 - 301 } })],
    ['a token of the future', sent({ claims: { iat: NOW / 1000 + 301 } })],
    ['no time', sent({ claims: { iat: undefined } })],
    ['no hash', sent({ claims: { request_body_sha256: undefined } })],
    ['no token', { body: BODY, headers: {} }],
    ...['', 'a.b.c', '..', 'e30.e30.', `${sent().headers['plaid-verification'] ?? ''}.x`].map(
      (token) => [token, { body: BODY, headers: { 'plaid-verification': token } }] as const,
    ),
  ];

  it.each(forged)('rejects a delivery with %s', async (_, delivery) => {
    expect(
      await statusOf(
        verifierWith(() => jwk),
        delivery,
      ),
    ).toBe(401);
  });

  it('rejects a token of an expired or unknown key, and asks for a retry if the key cannot be fetched', async () => {
    expect(
      await statusOf(
        verifierWith(() => ({ ...jwk, expired_at: NOW / 1000 })),
        sent(),
      ),
    ).toBe(401);
    expect(
      await statusOf(
        verifierWith(() => undefined),
        sent(),
      ),
    ).toBe(401);
    expect(
      await statusOf(
        verifierWith(() => Promise.reject(new Error('no network'))),
        sent(),
      ),
    ).toBe(503);
  });

  it('asks for at most four unknown keys, and then for one a second', async () => {
    const time = { now: NOW };
    const getKey = vi.fn((id: string) => (id === KEY_ID ? jwk : undefined));
    const verify = verifierWith(getKey, () => time.now);
    const forged = (at: number): Sent => sent({ header: { kid: `forged-${String(at)}` } });
    const statuses = [];
    for (let at = 0; at < 8; at += 1) statuses.push(await statusOf(verify, forged(at)));
    expect(statuses).toEqual([401, 401, 401, 401, 503, 503, 503, 503]);
    // A genuine delivery is not rejected, but asked for again.
    expect(await statusOf(verify, sent())).toBe(503);
    time.now += 1000;
    expect(await statusOf(verify, sent())).toBe(200);
    expect(await statusOf(verify, forged(9))).toBe(503);
    expect(getKey).toHaveBeenCalledTimes(5);
  });

  it('rejects a key that Plaid no longer has', async () => {
    const time = { now: NOW };
    const getKey = vi.fn<() => unknown>(() => jwk);
    const verify = verifierWith(getKey, () => time.now);
    expect(await statusOf(verify, sent())).toBe(200);
    getKey.mockReturnValue(undefined);
    time.now += 3_600_000;
    expect(await statusOf(verify, sent({ claims: { iat: time.now / 1000 } }))).toBe(401);
  });

  it('refuses a missing function', () => {
    expect(() => verifiers.plaid({} as never)).toThrow(/getKey must be a function.*ERR_WBP_VERIFIER/s);
  });
});
