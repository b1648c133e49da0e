import { invalid, BackpressureError } from '../errors.ts';
import type { Awaitable } from '../inbox/delivery/stored-delivery.ts';
import type { RawDelivery } from '../inbox/delivery/inbox-delivery.ts';
import { VerificationError } from './signatures.ts';
import { fromBase64, subtle, utf8, type CryptoKey } from '../base/web-crypto.ts';

/** A secret that a sender signs with: as it shows it, or bytes. */
export type Secret = string | Uint8Array;

/**
 * The secret of a sender; while it is being changed, a list of both; or a function that knows it by the delivery, such
 * as by a tenant in `params`. Missing or empty, it is an error, and never an empty key: at construction, and of a
 * function, which may return undefined for whom it does not know, the answer 401.
 */
export type SecretOption =
  | Secret
  | undefined
  | readonly (Secret | undefined)[]
  | ((delivery: RawDelivery) => Awaitable<Secret | undefined | readonly (Secret | undefined)[]>);

/** How a sender makes a key of its secret. */
export interface KeyMaker {
  readonly hash: 'SHA-1' | 'SHA-256';
  /** The bytes of the key, or undefined for a text that is no secret of this sender. */
  readonly bytesOf: (secret: string) => Uint8Array | undefined;
}

/** Of senders that take the text of the secret as it stands. */
export const asText: KeyMaker = { hash: 'SHA-256', bytesOf: utf8 };

/** Of Standard Webhooks: base64 behind a prefix. */
export const asStandardSecret: KeyMaker = {
  hash: 'SHA-256',
  bytesOf: (secret) => fromBase64(secret.replace(/^whsec_/, '')),
};

/**
 * The keys that a delivery may be signed with.
 *
 * @throws BackpressureError `ERR_WBP_SECRET` when there is none. No message shows a secret.
 */
export function keysOf(
  option: SecretOption,
  maker: KeyMaker,
): (delivery: RawDelivery) => Promise<readonly CryptoKey[]> {
  if (typeof option === 'function') {
    // Imported anew each time: what was imported before would be kept for every tenant that ever sent.
    return async (delivery) => {
      const found: unknown = await option(delivery);
      const isFound = Array.isArray(found) ? found.length > 0 : Boolean(found);
      if (!isFound) throw new VerificationError('No secret is known for this delivery.');
      return imported(bytesOf(found, maker), maker);
    };
  }
  const secrets = bytesOf(option, maker);
  let keys: Promise<readonly CryptoKey[]> | undefined;
  return () => {
    keys ??= imported(secrets, maker);
    return keys;
  };
}

function imported(secrets: readonly Uint8Array[], { hash }: KeyMaker): Promise<readonly CryptoKey[]> {
  return Promise.all(
    secrets.map((secret) => subtle().importKey('raw', secret, { name: 'HMAC', hash }, false, ['sign'])),
  );
}

function bytesOf(given: unknown, { bytesOf: read }: KeyMaker): readonly Uint8Array[] {
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (secrets.length === 0) throw wrong('secret must contain at least one secret.');
  return secrets.map((secret) => {
    if (secret === undefined || secret === null || secret === '') {
      throw wrong('secret is missing or empty. Is the environment variable set?');
    }
    if (typeof secret !== 'string' && !(secret instanceof Uint8Array)) {
      throw wrong(`secret must be a string or bytes, but was of type ${typeof secret}.`);
    }
    const bytes = typeof secret === 'string' ? read(secret) : Uint8Array.from(secret);
    if (bytes === undefined || bytes.byteLength === 0) {
      throw wrong('secret is not in the format that the sender uses. Copy it unchanged.');
    }
    return bytes;
  });
}

function wrong(sentence: string): BackpressureError {
  return new BackpressureError('ERR_WBP_SECRET', sentence);
}

/** @throws BackpressureError `ERR_WBP_VERIFIER` when it is no http or https address. */
export function checkedBaseUrl(given: unknown): string {
  if (typeof given !== 'string' || !/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/i.test(given)) {
    throw invalid(
      'ERR_WBP_VERIFIER',
      'baseUrl',
      'an http or https URL without a query, such as "https://shop.example"',
      given,
    );
  }
  return given.replace(/\/+$/, '');
}
