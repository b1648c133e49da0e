import { checkNames, isRecord } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { fromBase64, fromHex, subtle, utf8 } from '../encryption/web-crypto.ts';
import { asText, hmacKey, type KeyMaker, keysOf } from './secrets.ts';
import { checkFresh, checkSigned, freshness, VerificationError } from './signatures.ts';
import { bodyOf, fieldOf, type Verifier } from './verifier.ts';
import type { TimedVerifierOptions, VerifierOptions } from './verifier-options.ts';

/* Senders with the signature in the body. */

declare const URLSearchParams: new (query: string) => { getAll(name: string): string[] };

/** Adyen shows its keys in hexadecimal. */
const asHex: KeyMaker = { ...asText, bytesOf: fromHex };

/** The fields of a payment notification that Adyen signs, in order, joined by colons. */
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
 * Verifies notifications of Adyen: of payments by `additionalData.hmacSignature`, which covers some fields of the one item
 * that Adyen sends in JSON, and others by the header `HmacSignature`, which covers the body. The id of a payment is what
 * Adyen calls a duplicate, with the result.
 * Source: docs.adyen.com, "verify HMAC signatures"; \@adyen/api-library, hmacValidator.ts.
 */
export function adyen(options: VerifierOptions): Verifier {
  checkNames(options, 'options', ['secret']);
  const keys = keysOf(options.secret, asHex, 'adyen');
  const verify: Verifier = async (delivery) => {
    const header = delivery.headers['hmacsignature'];
    if (header !== undefined) {
      // Otherwise the signed text of a payment could be a body, without an id.
      if (!isRecord(bodyOf(delivery))) throw new VerificationError('The body is not a JSON object.');
      return checkSigned(await keys(delivery), [[delivery.rawBody]], [fromBase64(header)]);
    }
    const item = itemOf(delivery);
    const given = (item['additionalData'] as Record<string, unknown> | undefined)?.['hmacSignature'];
    const signature = typeof given === 'string' ? fromBase64(given) : undefined;
    return checkSigned(await keys(delivery), [[signedValuesOf(item).join(':')]], [signature]);
  };
  const id = (delivery: RawDelivery): string | undefined => {
    if (delivery.headers['hmacsignature'] !== undefined) return undefined;
    const [reference, , , , , , event, success] = signedValuesOf(itemOf(delivery));
    return [reference, event, success].join(':');
  };
  return Object.assign(verify, { id, key: 'adyen' });
}

/** The only item: a repeated one would make another id. */
function itemOf(delivery: RawDelivery): Record<string, unknown> {
  const items = fieldOf(delivery, 'notificationItems');
  const [first, ...others] = Array.isArray(items) ? (items as unknown[]) : [];
  const item = isRecord(first) ? first['NotificationRequestItem'] : undefined;
  if (isRecord(item) && others.length === 0) return item;
  throw new VerificationError('The body has not exactly one item.');
}

function signedValuesOf(item: Record<string, unknown>): readonly string[] {
  const values = ADYEN_FIELDS.map((path) =>
    path.split('.').reduce((at: unknown, name) => (isRecord(at) ? at[name] : undefined), item),
  );
  // Absent fields are signed as empty ones.
  const texts = values.map((value) =>
    typeof value === 'object' ? '' : String((value ?? '') as string | number | boolean),
  );
  // With colons in two fields, or in the last, other fields could have the same signature, and so another id.
  const areApart = texts.every((text, at) => ADYEN_FIELDS[at] === 'merchantReference' || !text.includes(':'));
  if (areApart && /^(?:true|false)$/.test(texts.at(-1) as string)) return texts;
  throw new VerificationError('A signed field of the item is malformed.');
}

/**
 * Verifies webhooks of Mailgun by `signature` in the body. It covers a timestamp and a token, but not the event, so
 * anyone who has seen one delivery can send another event with its signature. The token is the id, as Mailgun advises:
 * each is accepted once while it is remembered, so set `toleranceMs` to at most `retentionMs`.
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
