import { BackpressureError, errorMessageOf } from '@webhook-backpressure/base';
import { type CryptoKey, fromBase64, subtle, utf8 } from '../encryption/web-crypto.ts';
import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { VerificationError } from './signatures.ts';

/** A signing secret: a string as the sender's dashboard shows it, or bytes. */
export type Secret = string | Uint8Array;

/**
 * The secret of a sender; a list with the old and the new secret during rotation; or a function that returns the secret
 * for a delivery, for example by a tenant in `params`. A missing, empty or blank secret throws `ERR_WBP_SECRET` at
 * construction. If a function returns undefined, a blank string or an empty list, the delivery is answered with 401; if it
 * throws or rejects, with 503, because senders that get 401 may give up.
 */
export type SecretOption =
  | Secret
  | undefined
  | readonly (Secret | undefined)[]
  | ((delivery: RawDelivery) => Awaitable<Secret | undefined | readonly (Secret | undefined)[]>);

/** How a sender derives a key from its secret. */
export interface KeyMaker<Key = CryptoKey> {
  /** The bytes of the key; undefined if the text is not a secret of this sender. */
  readonly bytesOf: (secret: string) => Uint8Array | undefined;
  /** The key in these bytes, whether given as text or as bytes; undefined if it is malformed. Default: all bytes. */
  readonly checked?: (bytes: Uint8Array) => Uint8Array | undefined;
  /** The fewest bytes of a key. */
  readonly minBytes: number;
  readonly keyOf: (bytes: Uint8Array) => Promise<Key>;
}

export function hmacKey(bytes: Uint8Array, hash: 'SHA-1' | 'SHA-256'): Promise<CryptoKey> {
  return subtle().importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign']);
}

/** For senders that use the text of the secret unchanged. */
export const asText: KeyMaker = {
  // A public key is known to others: with it, anyone could sign.
  bytesOf: (secret) => (/^\s*-----BEGIN/.test(secret) ? undefined : utf8(secret)),
  minBytes: 1,
  keyOf: (bytes) => hmacKey(bytes, 'SHA-256'),
};

/** The same with SHA-1. */
export const asTextForSha1: KeyMaker = { ...asText, keyOf: (bytes) => hmacKey(bytes, 'SHA-1') };

/** For Standard Webhooks: base64 after a prefix, of 24 to 64 bytes by its specification. Supabase puts `v1,` before it. */
export const asStandardSecret: KeyMaker = {
  ...asText,
  bytesOf: (secret) => fromBase64(secret.replace(/^(?:v1,)?whsec_/, '')),
  minBytes: 24,
};

/**
 * Returns the keys that may have signed a delivery.
 *
 * @param verifier - the name of the verifier, for messages.
 * @param name - the name of the option.
 * @throws BackpressureError `ERR_WBP_SECRET` without a valid secret. No message contains a secret.
 */
export function keysOf<Key>(
  option: SecretOption,
  maker: KeyMaker<Key>,
  verifier: string,
  name = 'secret',
): (delivery: RawDelivery) => Promise<readonly Key[]> {
  if (typeof option === 'function') {
    // Not cached: a cache would keep a key for every tenant that ever sent.
    return async (delivery) => {
      const found = await lookedUp(option, delivery);
      const isFound = Array.isArray(found) ? found.length > 0 : Boolean(found);
      if (!isFound) throw new VerificationError('No secret is known for this delivery.');
      return imported(bytesOf(found, maker, verifier, name), maker);
    };
  }
  const secrets = bytesOf(option, maker, verifier, name);
  let keys: Promise<readonly Key[]> | undefined;
  return () => {
    keys ??= imported(secrets, maker);
    return keys;
  };
}

async function lookedUp(
  option: Extract<SecretOption, (delivery: RawDelivery) => unknown>,
  delivery: RawDelivery,
): Promise<unknown> {
  try {
    return await option(delivery);
  } catch (error) {
    // Not a VerificationError, because the message is the user's.
    throw Object.assign(new Error(errorMessageOf(error)), { status: 503 });
  }
}

async function imported<Key>(
  secrets: readonly Uint8Array[],
  { keyOf }: KeyMaker<Key>,
): Promise<readonly Key[]> {
  try {
    return await Promise.all(secrets.map(keyOf));
  } catch {
    throw new VerificationError('A key of this verifier is not valid.');
  }
}

function bytesOf<Key>(
  option: unknown,
  { bytesOf: read, checked = (bytes) => bytes, minBytes }: KeyMaker<Key>,
  verifier: string,
  name: string,
): readonly Uint8Array[] {
  const wrong = (sentence: string): BackpressureError =>
    new BackpressureError('ERR_WBP_SECRET', `verifiers.${verifier}({ ${name} }): ${name} ${sentence}`);
  const secrets: readonly unknown[] = Array.isArray(option) ? option : [option];
  if (secrets.length === 0) throw wrong('must contain at least one secret.');
  return secrets.map((secret) => {
    if (secret === undefined || secret === null) {
      throw wrong('is missing. Is the environment variable set, and spelled as where you set it?');
    }
    if (typeof secret !== 'string' && !(secret instanceof Uint8Array)) {
      throw wrong(`must be a string or bytes, but was of type ${typeof secret}.`);
    }
    // Controls, spaces, and characters without width.
    if (typeof secret === 'string' && /^[\p{C}\p{Z}]*$/u.test(secret)) {
      throw wrong('is empty or blank. Has the environment variable a value?');
    }
    if (secret === 'undefined' || secret === 'null') {
      throw wrong(`is the text "${secret}". Has the environment variable a value?`);
    }
    const given = typeof secret === 'string' ? read(secret) : Uint8Array.from(secret);
    const bytes = given === undefined ? undefined : checked(given);
    if (bytes === undefined || bytes.byteLength === 0) {
      throw wrong('is not in the format that the sender uses. Copy it unchanged.');
    }
    if (bytes.byteLength < minBytes) {
      throw wrong(`must have at least ${String(minBytes)} bytes, but has ${String(bytes.byteLength)}.`);
    }
    return bytes;
  });
}
