import { Webhook } from 'standardwebhooks';
import { verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../../core/verifiers/signed-deliveries.ts';
import { generateKeyPairSync } from 'node:crypto';
import { publicKeySet } from '@webhook-backpressure/sender';
import { checkSecret, signatureHeaders } from '../../../packages/sender/src/requests/signatures.ts';

const NEW = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OLD = Buffer.alloc(24, 2).toString('base64');
const body = new TextEncoder().encode('{"type":"order.updated","data":{"name":"Zoë 🎉"}}');

const signed = (secrets: readonly string[], sentAtMs = Date.now()): Record<string, string> =>
  signatureHeaders(secrets, 'evt_1', sentAtMs, body);

describe('signatures', () => {
  it('agree with the example of the specification', () => {
    const headers = signatureHeaders(
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330_999,
      new TextEncoder().encode('{"test": 2432232314}'),
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each([
    ['the new', NEW],
    ['the old', OLD],
  ])('let a receiver verify that has only %s secret', async (_, secret) => {
    const headers = signed([NEW, OLD]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect(new Webhook(secret).verify(Buffer.from(body), headers)).toEqual(
      JSON.parse(Buffer.from(body).toString()),
    );
    const verify = verifiers.standardWebhooks({ secret });
    expect(await statusOf(verify, { body: Buffer.from(body).toString(), headers })).toBe(200);
  });

  it('fail with another secret', () => {
    const other = Buffer.alloc(32, 3).toString('base64');
    expect(() => new Webhook(other).verify(Buffer.from(body), signed([NEW, OLD]))).toThrow(/No matching/);
  });

  it('sign a part of a larger buffer', () => {
    const larger = new Uint8Array(body.byteLength + 20).fill(65);
    larger.set(body, 10);
    const part = larger.subarray(10, 10 + body.byteLength);
    expect(signatureHeaders([NEW], 'evt_1', 0, part)).toEqual(signed([NEW], 0));
  });

  it('are left out without a secret', () => {
    expect(signed([], 5000)).toEqual({ 'webhook-id': 'evt_1', 'webhook-timestamp': '5' });
  });
});

/** The private and the public key, as Standard Webhooks writes them. */
function keyPair(): { readonly secret: string; readonly publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const [seed, stated] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return {
    secret: `whsk_${Buffer.concat([seed, stated]).toString('base64')}`,
    publicKey: `whpk_${stated.toString('base64')}`,
  };
}

describe('signatures with a key pair', () => {
  const { secret, publicKey } = keyPair();
  const received = (headers: Record<string, string>) => ({ body: Buffer.from(body).toString(), headers });

  it('let a receiver verify with the public key, beside a symmetric secret', async () => {
    const headers = signed([secret, NEW]);
    expect(headers['webhook-signature']).toMatch(/^v1a,\S{88} v1,\S{44}$/);
    const verify = verifiers.standardWebhooks({ publicKey });
    expect(await statusOf(verify, received(headers))).toBe(200);
    expect(await statusOf(verify, received({ ...headers, 'webhook-id': 'evt_2' }))).toBe(401);
    expect(await statusOf(verify, received(signed([keyPair().secret])))).toBe(401);
  });

  it('let a receiver verify with the key set, which has no secret', async () => {
    const set = publicKeySet([keyPair().secret, secret]);
    expect(set.keys.map((key) => Object.keys(key).sort())).toEqual(
      Array.from({ length: 2 }, () => ['alg', 'crv', 'kid', 'kty', 'use', 'x']),
    );
    const fetch = () => Promise.resolve(new Response(JSON.stringify(set)));
    const verify = verifiers.standardWebhooks({ jwks: { url: 'https://sender.example/keys', fetch } });
    expect(await statusOf(verify, received(signed([secret])))).toBe(200);
    expect(await statusOf(verify, received(signed([keyPair().secret])))).toBe(401);
  });

  it.each([
    'whsk_AAAA',
    NEW,
    `${secret.slice(0, 60)}AAAA${secret.slice(64)}`,
    undefined as unknown as string,
  ])('refuse %j as a key pair', (given) => {
    if (given !== NEW) expect(checkSecret(given)).toBe(false);
    expect(() => publicKeySet([given])).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_ENDPOINT_SECRET' }) as Error,
    );
  });

  it('has the thumbprint of RFC 8037 as the id of a key', () => {
    // Appendix A of the RFC: the key pair, and its thumbprint.
    const d = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url');
    const x = Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url');
    const [key] = publicKeySet([`whsk_${Buffer.concat([d, x]).toString('base64')}`]).keys;
    expect(key?.kid).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});

describe('secrets', () => {
  it.each([NEW, OLD, 'A'.repeat(32), `whsec_${'A'.repeat(32)}`, 'A'.repeat(200)])('accepts %s', (secret) => {
    expect(checkSecret(secret)).toBe(true);
  });

  it.each([
    '',
    'whsec_',
    'AA==',
    `whsec_${'A'.repeat(31)}=`,
    'not base64!',
    'whsk_AAAA',
    'AAA',
    'AA-_',
    ' AAAA',
    'AAAA\n',
    1,
    null,
    undefined,
    Buffer.alloc(32),
  ])('refuses %j', (secret) => {
    expect(checkSecret(secret)).toBe(false);
  });
});
