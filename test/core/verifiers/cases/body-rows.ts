import { createHash } from 'node:crypto';
import braintree, { type BraintreeGateway } from 'braintree';
import { HAND, hex, hmac, packageOf, type Row } from './signed.ts';

/* Senders with the signature in the body. */

const ADYEN_KEYS = [
  '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00',
] as const;

export function adyenBody(key: string, references: readonly string[]): string {
  const items = references.map((pspReference) => {
    const message = `${pspReference}::Geschäft:order:1130:EUR:AUTHORISATION:true`;
    return {
      NotificationRequestItem: {
        pspReference,
        merchantAccountCode: 'Geschäft',
        merchantReference: 'order',
        amount: { currency: 'EUR', value: 1130 },
        eventCode: 'AUTHORISATION',
        success: 'true',
        additionalData: { hmacSignature: hmac(Buffer.from(key, 'hex'), message).digest('base64') },
      },
    };
  });
  return JSON.stringify({ live: 'false', notificationItems: items });
}

const TOKEN = 'c5d8a6f0b7e94d9ab6c1f2';

const gatewayOf = (privateKey: string): BraintreeGateway =>
  new braintree.BraintreeGateway({
    environment: braintree.Environment.Sandbox,
    merchantId: 'merchant',
    publicKey: 'public',
    privateKey,
  });

export const BODY_ROWS: readonly Row[] = [
  {
    verifier: 'adyen',
    against: '`@adyen/api-library` 32.1.0',
    secrets: ADYEN_KEYS,
    sent: (key) => ({ body: adyenBody(key, ['evt_1']), headers: {} }),
    tamper: (body) => body.replace('1130', '1131'),
    id: ['evt_1:AUTHORISATION:true', 'adyen'],
  },
  {
    verifier: 'mailgun',
    against: HAND,
    toleranceMs: Infinity,
    sent: (secret, nowMs) => {
      const timestamp = String(nowMs / 1000);
      const signature = { token: TOKEN, timestamp, signature: hex(secret, `${timestamp}${TOKEN}`) };
      return { body: JSON.stringify({ signature, 'event-data': { event: 'opened' } }), headers: {} };
    },
    tamper: (body) => body.replace(TOKEN, `${TOKEN}0`),
    id: [TOKEN, 'mailgun'],
  },
  {
    verifier: 'braintree',
    against: packageOf('braintree'),
    sent: (secret) => {
      const payload = Buffer.from('<notification><kind>check</kind></notification>').toString('base64');
      const key = createHash('sha1').update(secret).digest();
      const form = new URLSearchParams({
        bt_signature: `other|00&public|${hmac(key, payload, 'sha1').digest('hex')}`,
        bt_payload: payload,
      });
      return { body: form.toString(), headers: {} };
    },
    confirm: ({ body }, secret) => {
      const form = new URLSearchParams(body);
      const [signature, payload] = [form.get('bt_signature') ?? '', form.get('bt_payload') ?? ''];
      return gatewayOf(secret).webhookNotification.validateSignature(signature, payload) === null;
    },
  },
];
