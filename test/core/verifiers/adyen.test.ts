import { verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { adyenBody, BODY_ROWS } from './cases/body-rows.ts';
import { BODY, hmac, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

const sent = (headers: Record<string, string>, body = BODY): Sent => ({ body, headers });

describe('the verifier of Adyen', () => {
  const [key] = BODY_ROWS[0]?.secrets ?? [''];

  it.each([['evt_1', 'evt_1'], ['evt_1', 'evt_2'], []])(
    'accepts only one item, since a repeated one would make another id: %s %s',
    async (...references) => {
      expect(await statusOf(verifiers.adyen({ secret: key }), sent({}, adyenBody(key, references)))).toBe(
        401,
      );
    },
  );

  const TEXT = 'evt_1::Shop:order:77:1130:EUR:AUTHORISATION:true';
  const signature = hmac(Buffer.from(key, 'hex'), TEXT).digest('base64');
  const whole = {
    pspReference: 'evt_1',
    merchantAccountCode: 'Shop',
    merchantReference: 'order:77',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    success: 'true',
    additionalData: { hmacSignature: signature },
  };

  it.each([
    [{}, 200],
    [
      {
        pspReference: 'evt_1:',
        originalReference: 'Shop',
        merchantAccountCode: 'order',
        merchantReference: '77',
      },
      401,
    ],
    [{ merchantReference: 'order', amount: { value: '77:1130', currency: 'EUR' } }, 401],
    [{ eventCode: 'AUTHORISATION:true', success: '' }, 401],
  ])(
    'does not move the signed text to other fields, which would make another id: %s',
    async (more, status) => {
      const body = JSON.stringify({
        notificationItems: [{ NotificationRequestItem: { ...whole, ...more } }],
      });
      expect(await statusOf(verifiers.adyen({ secret: key }), sent({}, body))).toBe(status);
    },
  );

  it('does not take the signed text of an item for a body, nor a signed body for an item', async () => {
    const verify = verifiers.adyen({ secret: key });
    expect(await statusOf(verify, sent({ hmacsignature: signature }, TEXT))).toBe(401);
    const body = '{"a":"b","c":{"d":"e","f":1},"g":"h","i":"j"}';
    const headers = { hmacsignature: hmac(Buffer.from(key, 'hex'), body).digest('base64') };
    expect(await statusOf(verify, sent(headers, body))).toBe(200);
    const [pspReference, originalReference, merchantAccountCode, ...rest] = body.split(':');
    const [value, currency, eventCode, success] = rest.slice(-4);
    const item = {
      ...{ pspReference, originalReference, merchantAccountCode, eventCode, success },
      merchantReference: rest.slice(0, -4).join(':'),
      amount: { value, currency },
      additionalData: { hmacSignature: headers.hmacsignature },
    };
    const forged = JSON.stringify({ notificationItems: [{ NotificationRequestItem: item }] });
    expect(await statusOf(verify, sent({}, forged))).toBe(401);
  });

  it.each([
    '{"notificationItems":[]}',
    '{"notificationItems":[null]}',
    '{"notificationItems":[{"NotificationRequestItem":{}}]}',
    '{"notificationItems":[{"NotificationRequestItem":{"additionalData":"hmacSignature"}}]}',
    '{"notificationItems":{}}',
    'null',
    '{',
  ])('rejects a body without signed items: %s', async (body) => {
    expect(await statusOf(verifiers.adyen({ secret: key }), sent({}, body))).toBe(401);
  });

  it('refuses a key that is not hexadecimal', () => {
    expect(() => verifiers.adyen({ secret: 'geheim' })).toThrow('ERR_WBP_SECRET');
  });
});
