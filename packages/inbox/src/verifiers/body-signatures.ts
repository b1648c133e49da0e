import { checkNames, isRecord } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { fromBase64, fromHex, subtle, utf8 } from '../encryption/web-crypto.ts';
import { asText, hmacKey, type KeyMaker, keysOf } from './secrets.ts';
import { checkFresh, checkSigned, freshness, type Message, VerificationError } from './signatures.ts';
import { fieldOf, type Verifier } from './verifier.ts';
import type { TimedVerifierOptions, VerifierOptions } from './verifier-options.ts';

/* Senders with the signature in the body. */

declare const URLSearchParams: new (query: string) => { getAll(name: string): string[] };

/** Adyen shows its keys in hexadecimal. */
const asHex: KeyMaker = { ...asText, bytesOf: fromHex };

/** The fields of a payment notification that Adyen signs, in order. */
const ADYEN_FIELDS = [
  'pspReference',
  'originalReference',
  'merchantAccountCode',
  'merchantReference',
  'amount.value',
  'amount.currency',
  'eventCode',
  'success',
];

/**
 * Verifies notifications of Adyen: of payments by `additionalData.hmacSignature`, which covers some fields of each item,
 * and others by the header `HmacSignature`, which covers the body. The id of a payment is what Adyen calls a duplicate,
 * with the result.
 * Source: docs.adyen.com, "verify HMAC signatures"; \@adyen/api-library, hmacValidator.ts.
 */
export function adyen(options: VerifierOptions): Verifier {
  checkNames(options, 'options', ['secret']);
  const keys = keysOf(options.secret, asHex, 'adyen');
  const verify: Verifier = async (delivery) => {
    const header = delivery.headers['hmacsignature'];
    if (header !== undefined)
      return checkSigned(await keys(delivery), [[delivery.rawBody]], [fromBase64(header)]);
    const items = itemsOf(delivery);
    if (items.length === 0) throw new VerificationError('The body has no signed item.');
    for (const item of items) {
      const given = (item['additionalData'] as Record<string, unknown> | undefined)?.['hmacSignature'];
      const signature = typeof given === 'string' ? fromBase64(given) : undefined;
      await checkSigned(await keys(delivery), [adyenMessage(item)], [signature]);
    }
    return true;
  };
  const id = (delivery: RawDelivery): string | undefined => {
    if (delivery.headers['hmacsignature'] !== undefined) return undefined;
    const names = itemsOf(delivery).map((item) =>
      ['pspReference', 'eventCode', 'success'].map((field) => String(item[field])).join(':'),
    );
    return names.length === 0 ? undefined : names.join(' ');
  };
  return Object.assign(verify, { id, key: 'adyen' });
}

function itemsOf(delivery: RawDelivery): Record<string, unknown>[] {
  const items = fieldOf(delivery, 'notificationItems');
  const found = Array.isArray(items)
    ? items.map((item: unknown) => (isRecord(item) ? item['NotificationRequestItem'] : undefined))
    : [];
  return found.every(isRecord) ? found : [];
}

function adyenMessage(item: Record<string, unknown>): Message {
  const values = ADYEN_FIELDS.map((path) =>
    path.split('.').reduce((at: unknown, name) => (isRecord(at) ? at[name] : undefined), item),
  );
  // Absent fields are signed as empty ones.
  const texts = values.map((value) =>
    typeof value === 'object' ? '' : String((value ?? '') as string | number | boolean),
  );
  return [texts.join(':')];
}

/**
 * Verifies webhooks of Mailgun by `signature` in the body. It covers a timestamp and a token, but not the event, so
 * anyone who has seen one delivery can send another event with its signature. The token is the id, as Mailgun advises:
 * each is accepted once.
 * Source: documentation.mailgun.com, "securing webhooks".
 */
export function mailgun(options: TimedVerifierOptions): Verifier {
  checkNames(options, 'options', ['secret', 'toleranceMs', 'wallClock']);
  const keys = keysOf(options.secret, asText, 'mailgun');
  // Whether a retry gets a new timestamp is not documented.
  const fresh = freshness(options, Infinity);
  const verify: Verifier = async (delivery) => {
    const [time, token, signature] = ['timestamp', 'token', 'signature'].map((name) =>
      fieldOf(delivery, `signature.${name}`),
    );
    // With a shorter timestamp, its end could be the start of another token, and so of another id.
    if (typeof token !== 'string' || typeof signature !== 'string' || !/^\d{10}$/.test(String(time)))
      throw new VerificationError('The body has no signature.');
    checkFresh(String(time), 1000, fresh);
    return checkSigned(await keys(delivery), [[String(time), token]], [fromHex(signature)]);
  };
  const id = (delivery: RawDelivery): string => String(fieldOf(delivery, 'signature.token'));
  return Object.assign(verify, { id, key: 'mailgun' });
}

/** Braintree signs with the SHA-1 hash of the private key. */
const asBraintreeKey: KeyMaker = {
  ...asText,
  keyOf: async (bytes) => hmacKey(new Uint8Array(await subtle().digest('SHA-1', bytes)), 'SHA-1'),
};

/**
 * Verifies webhooks of Braintree: `bt_signature`, a list of public keys and signatures, covers `bt_payload`. A form.
 * Source: braintree, webhook_notification_gateway.js.
 */
export function braintree(options: VerifierOptions): Verifier {
  checkNames(options, 'options', ['secret']);
  const keys = keysOf(options.secret, asBraintreeKey, 'braintree');
  const verify: Verifier = async (delivery) => {
    const form = new URLSearchParams(delivery.text());
    const [payload, ...others] = form.getAll('bt_payload');
    const [signature] = form.getAll('bt_signature');
    // Of two payloads, a handler might take the one that is not signed.
    if (!payload || !signature || others.length > 0)
      throw new VerificationError('The body has no signature.');
    const given = signature.split('&').map((pair) => fromHex(pair.slice(pair.indexOf('|') + 1)));
    // The payload is signed with or without its last line break.
    return checkSigned(await keys(delivery), [[utf8(payload)], [utf8(`${payload}\n`)]], given);
  };
  return Object.assign(verify, { key: 'braintree' });
}
