import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { EventWebhook } from '@sendgrid/eventwebhook';
import { verifyKey } from 'discord-interactions';
import { createSigner, httpbis, type SigningKey } from 'http-message-signatures';
import { BASE, BODY, HAND, packageOf, type Row, SECONDS } from './signed.ts';

/* Senders that sign with a private key. A row finds it by the public key, which takes the place of the secret. */

const privateKeys = new Map<string, KeyObject>();

function privateKeyOf(publicKey: string): KeyObject {
  return privateKeys.get(publicKey) as KeyObject;
}

/** Two pairs of keys, the public ones in a format of the sender. */
function pairs(
  make: () => { publicKey: KeyObject; privateKey: KeyObject },
  format: (publicKey: KeyObject) => string,
): readonly [string, string] {
  return [make(), make()].map(({ publicKey, privateKey }) => {
    const text = format(publicKey);
    privateKeys.set(text, privateKey);
    return text;
  }) as [string, string];
}

const ed25519 = () => generateKeyPairSync('ed25519');
const p256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const spki = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64');
const raw = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(12);

const ED25519_HEX = pairs(ed25519, (key) => raw(key).toString('hex'));
export const WHPK = pairs(ed25519, (key) => `whpk_${raw(key).toString('base64')}`);

function signedByKey(publicKey: string, message: string, hash: string | null = null): Buffer {
  return sign(hash, Buffer.from(message), privateKeyOf(publicKey));
}

export function standardHeaders(publicKey: string, nowMs: number): Record<string, string> {
  const time = String(nowMs / 1000);
  const signature = signedByKey(publicKey, `msg_1.${time}.${BODY}`).toString('base64');
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': time,
    'webhook-signature': `v1a,${signature}`,
  };
}

type Algorithm = 'hmac-sha256' | 'ed25519' | 'ecdsa-p256-sha256' | 'rsa-v1_5-sha256' | 'rsa-pss-sha512';

export const digestOf = (body: string): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** The package's, but with the salt of 64 bytes that RFC 9421 demands: the package takes the largest. */
function signerOf(algorithm: Algorithm, key: string | KeyObject): SigningKey {
  if (algorithm !== 'rsa-pss-sha512') return createSigner(key, algorithm);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return {
    alg: algorithm,
    sign: (data) => Promise.resolve(sign('sha512', data, { key: key as KeyObject, padding, saltLength: 64 })),
  };
}

/** A request signed by the package. */
export async function signedRequest(
  algorithm: Algorithm,
  key: string | KeyObject,
  nowMs: number,
  {
    fields = ['@method', '@authority', '@path', '@query', 'content-digest'],
    body = BODY,
    params = ['created'],
    id = '',
  } = {},
) {
  const url = '/hooks?a=1&b=%20x';
  const ofId = id === '' ? {} : { 'webhook-id': id };
  const request = {
    method: 'POST',
    url: `${BASE}${url}`,
    headers: { 'content-digest': digestOf(body), ...ofId },
  };
  const { headers } = await httpbis.signMessage(
    { key: signerOf(algorithm, key), fields, params, paramValues: { created: new Date(nowMs) } },
    request,
  );
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { body, url, headers: Object.fromEntries(lower) as Record<string, string> };
}

function httpRow(algorithm: Algorithm, secrets?: readonly [string, string]): Row {
  return {
    verifier: 'httpSignatures',
    against: packageOf('http-message-signatures'),
    option: 'key',
    toleranceMs: 300_000,
    header: 'signature',
    more: { algorithm, baseUrl: BASE },
    ...(secrets && { secrets }),
    sent: (secret, nowMs) =>
      signedRequest(algorithm, algorithm === 'hmac-sha256' ? secret : privateKeyOf(secret), nowMs),
  };
}

export const KEY_ROWS: readonly Row[] = [
  {
    verifier: 'discord',
    against: packageOf('discord-interactions'),
    option: 'publicKey',
    secrets: ED25519_HEX,
    toleranceMs: 900_000,
    header: 'x-signature-ed25519',
    sent: (publicKey, nowMs) => ({
      body: BODY,
      headers: {
        'x-signature-timestamp': String(nowMs / 1000),
        'x-signature-ed25519': signedByKey(publicKey, `${String(nowMs / 1000)}${BODY}`).toString('hex'),
      },
    }),
    confirm: ({ body, headers }, publicKey) =>
      verifyKey(
        body,
        headers['x-signature-ed25519'] ?? '',
        headers['x-signature-timestamp'] ?? '',
        publicKey,
      ),
    id: ['evt_1', 'discord'],
  },
  {
    verifier: 'highlevel',
    against: HAND,
    option: 'publicKey',
    secrets: pairs(ed25519, pem),
    header: 'x-ghl-signature',
    sent: (publicKey) => {
      const body = '{"webhookId":"evt_1","name":"Ä"}';
      return { body, headers: { 'x-ghl-signature': signedByKey(publicKey, body).toString('base64') } };
    },
    id: ['evt_1', 'highlevel'],
  },
  {
    verifier: 'sendgridEvents',
    against: packageOf('@sendgrid/eventwebhook'),
    option: 'publicKey',
    secrets: pairs(p256, spki),
    toleranceMs: Infinity,
    header: 'x-twilio-email-event-webhook-signature',
    sent: (publicKey) => ({
      body: BODY,
      headers: {
        'x-twilio-email-event-webhook-timestamp': SECONDS,
        'x-twilio-email-event-webhook-signature': signedByKey(
          publicKey,
          `${SECONDS}${BODY}`,
          'sha256',
        ).toString('base64'),
      },
    }),
    confirm: ({ body, headers }, publicKey) => {
      const vendor = new EventWebhook();
      return vendor.verifySignature(
        vendor.convertPublicKeyToECDSA(publicKey),
        body,
        headers['x-twilio-email-event-webhook-signature'] ?? '',
        headers['x-twilio-email-event-webhook-timestamp'] ?? '',
      );
    },
  },
  {
    verifier: 'standardWebhooks',
    against: HAND,
    option: 'publicKey',
    secrets: WHPK,
    toleranceMs: 300_000,
    header: 'webhook-signature',
    sent: (publicKey, nowMs) => ({ body: BODY, headers: standardHeaders(publicKey, nowMs) }),
    id: ['msg_1', 'standard-webhooks'],
  },
  httpRow('hmac-sha256'),
  httpRow('ed25519', pairs(ed25519, pem)),
  httpRow('ecdsa-p256-sha256', pairs(p256, spki)),
  httpRow('rsa-v1_5-sha256', pairs(rsa, pem)),
  httpRow('rsa-pss-sha512', pairs(rsa, pem)),
];
