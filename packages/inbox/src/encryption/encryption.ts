import { BackpressureError, checkNames, isRecord } from '@webhook-backpressure/base';
import { type CryptoKey, fromBase64, joined, randomBytes, subtle, utf8 } from './web-crypto.ts';
import type { Json } from '../delivery/json.ts';
import { NO_REQUEST, type RequestFacts } from '../delivery/request-facts.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };
const decoder = new TextDecoder();

/** The first byte of encrypted data, so that the layout can change. */
const LAYOUT = 1;
/** The size that AES-GCM requires. Random, so one key is good for some 4 billion deliveries. */
const IV_BYTES = 12;
const LENGTH_BYTES = 4;
/** 128 bits make collisions between bodies of one id negligible. */
const FINGERPRINT_BYTES = 16;

/** Encryption of deliveries in the store. */
export interface EncryptOptions {
  /**
   * The keys by their ids. A key is 32 random bytes, as a `Uint8Array` or in base64. Its id, 1 to 64 letters, digits,
   * dots, hyphens and underscores, is stored with each delivery. Keep a key until no delivery that it encrypted is
   * stored, dead letters included. An undefined key, such as a missing environment variable, is an error.
   */
  keys: Readonly<Record<string, Uint8Array | string | undefined>>;
  /** The id of the key that encrypts new deliveries. Required with several keys. Default: the only key. */
  current?: string | undefined;
}

/** The checked option `encrypt`. */
export interface EncryptSettings {
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly current: string;
}

const KEY_BYTES = 32;
const ID = /^[\w.-]{1,64}$/;

/** The fields that are encrypted with the body. */
interface EncryptedFields {
  readonly request: RequestFacts;
  readonly context: Json;
  readonly headers: Readonly<Record<string, string>>;
}

interface Keys {
  readonly cipher: CryptoKey;
  readonly fingerprint: CryptoKey;
}

/** Encrypts deliveries before they are stored, and decrypts them for callbacks and operators. */
export class Encryption {
  readonly #settings: EncryptSettings | undefined;
  readonly #imported = new Map<string, Promise<Keys>>();

  constructor(settings: EncryptSettings | undefined) {
    this.#settings = settings;
  }

  /** The delivery as it is stored: unchanged when there is no key. */
  encrypt(delivery: StoredDelivery): Awaitable<StoredDelivery> {
    return this.#settings === undefined ? delivery : this.#encrypt(delivery, this.#settings.current);
  }

  /** Whether the delivery is not encrypted, or its key is known. */
  hasKeyOf({ sealedBy }: StoredDelivery): boolean {
    return sealedBy === undefined || this.#settings?.keys.has(sealedBy) === true;
  }

  /**
   * The decrypted delivery; synchronous when it is not encrypted. Rejects with `ERR_WBP_DECRYPT` when its key is missing
   * or has changed, or when the stored data was modified.
   */
  decrypt<T extends StoredDelivery>(delivery: T): Awaitable<T> {
    return delivery.sealedBy === undefined ? delivery : this.#decrypt(delivery, delivery.sealedBy);
  }

  /** Like `decrypt`, but a delivery that cannot be decrypted is returned without its contents. */
  decryptOrEmpty<T extends StoredDelivery>(delivery: T): Awaitable<T> {
    const decrypted = this.decrypt(delivery);
    return decrypted instanceof Promise
      ? decrypted.catch(() => ({ ...delivery, rawBody: new Uint8Array() }))
      : decrypted;
  }

  async #encrypt(delivery: StoredDelivery, sealedBy: string): Promise<StoredDelivery> {
    const { request, context, headers, rawBody } = delivery;
    const keys = await this.#keys(sealedBy);
    const facts = utf8(JSON.stringify({ request, context, headers } satisfies EncryptedFields));
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, facts.byteLength);
    const iv = randomBytes(IV_BYTES);
    const by = { name: 'AES-GCM', iv, additionalData: boundTo(delivery, sealedBy) };
    const [encrypted, fingerprint] = await Promise.all([
      subtle().encrypt(by, keys.cipher, joined([length, facts, rawBody])),
      subtle().sign('HMAC', keys.fingerprint, joined([boundTo(delivery, sealedBy), rawBody])),
    ]);
    return {
      ...delivery,
      request: NO_REQUEST,
      context: null,
      headers: {},
      rawBody: joined([Uint8Array.of(LAYOUT), iv, new Uint8Array(encrypted)]),
      sealedBy,
      fingerprint: new Uint8Array(fingerprint, 0, FINGERPRINT_BYTES),
    };
  }

  async #decrypt<T extends StoredDelivery>(delivery: T, sealedBy: string): Promise<T> {
    const { rawBody } = delivery;
    if (!this.hasKeyOf(delivery)) {
      throw new BackpressureError(
        'ERR_WBP_DECRYPT',
        `The delivery is encrypted with the key ${JSON.stringify(sealedBy)}, which is not among encrypt.keys.`,
      );
    }
    const { cipher } = await this.#keys(sealedBy);
    const iv = rawBody.subarray(1, 1 + IV_BYTES);
    try {
      if (rawBody[0] !== LAYOUT) throw new Error(`unknown layout ${String(rawBody[0])}`);
      const by = { name: 'AES-GCM', iv, additionalData: boundTo(delivery, sealedBy) };
      const plain = new Uint8Array(await subtle().decrypt(by, cipher, rawBody.subarray(1 + IV_BYTES)));
      const bodyAt = LENGTH_BYTES + new DataView(plain.buffer).getUint32(0);
      const facts = JSON.parse(decoder.decode(plain.subarray(LENGTH_BYTES, bodyAt))) as EncryptedFields;
      const { request, context, headers } = facts;
      return { ...delivery, request, context, headers, rawBody: plain.subarray(bodyAt) };
    } catch (error) {
      throw new BackpressureError(
        'ERR_WBP_DECRYPT',
        `The delivery cannot be decrypted with the key ${JSON.stringify(sealedBy)}: the key or the stored data has changed.`,
        { cause: error },
      );
    }
  }

  #keys(id: string): Promise<Keys> {
    const known = this.#imported.get(id);
    if (known !== undefined) return known;
    const imported = imports(this.#settings?.keys.get(id) ?? new Uint8Array());
    this.#imported.set(id, imported);
    // A failed import rejects for its callers; the next caller tries again.
    imported.catch(() => this.#imported.delete(id));
    return imported;
  }
}

async function imports(key: Uint8Array): Promise<Keys> {
  const cipher = await subtle().importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  const base = await subtle().importKey('raw', key, 'HKDF', false, ['deriveKey']);
  // A hash without a key would let anyone who reads the store guess the body.
  const fingerprint = await subtle().deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8('webhook-backpressure fingerprint') },
    base,
    { name: 'HMAC', hash: 'SHA-256', length: 256 },
    false,
    ['sign'],
  );
  return { cipher, fingerprint };
}

/** The clear-text fields that the data is bound to: moved to another delivery, it cannot be decrypted. */
function boundTo({ key, id, sender }: StoredDelivery, sealedBy: string): Uint8Array {
  return utf8(JSON.stringify([LAYOUT, sealedBy, key, id, sender ?? null]));
}

/**
 * Checks the option `encrypt`. No message shows a value that may be a key.
 *
 * @throws BackpressureError `ERR_WBP_ENCRYPT`
 */
export function encryptSettings(encrypt: EncryptOptions): EncryptSettings {
  if (!isRecord(encrypt)) throw wrong('encrypt must be an object with the field keys.');
  checkNames(encrypt, 'encrypt', ['keys', 'current'], 'ERR_WBP_ENCRYPT');
  if (!isRecord(encrypt.keys)) throw wrong('encrypt.keys must be an object that maps ids to keys.');
  const keys = new Map<string, Uint8Array>();
  for (const [id, key] of Object.entries(encrypt.keys)) {
    if (!ID.test(id)) {
      throw wrong('The ids in encrypt.keys must be 1 to 64 letters, digits, dots, hyphens or underscores.');
    }
    const bytes = bytesOf(key);
    if (bytes?.byteLength !== KEY_BYTES) {
      throw wrong(
        `encrypt.keys[${JSON.stringify(id)}] must be 32 bytes, or base64 of 32 bytes, but was ${sizeOf(key)}.`,
      );
    }
    // A copy: later changes to the user's array must not change the key.
    keys.set(id, Uint8Array.from(bytes));
  }
  const [first, ...others] = keys.keys();
  const { current = others.length === 0 ? first : undefined }: { current?: unknown } = encrypt;
  if (typeof current !== 'string' || !keys.has(current)) {
    throw wrong(
      'encrypt.current must be an id in encrypt.keys. It is optional only when there is exactly one key.',
    );
  }
  return { keys, current };
}

function bytesOf(key: unknown): Uint8Array | undefined {
  if (key instanceof Uint8Array) return key;
  return typeof key === 'string' ? fromBase64(key.trim()) : undefined;
}

function sizeOf(key: unknown): string {
  if (key instanceof Uint8Array) return `${String(key.byteLength)} bytes`;
  return typeof key === 'string' ? `a string of length ${String(key.length)}` : `of type ${typeof key}`;
}

function wrong(sentence: string): BackpressureError {
  return new BackpressureError('ERR_WBP_ENCRYPT', sentence);
}
