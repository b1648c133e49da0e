import { Webhook } from 'standardwebhooks';
import { verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../../core/verifiers/signed-deliveries.ts';
import { checkSecret, signatureHeaders } from '../../../packages/sender/src/requests/request-content.ts';

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
