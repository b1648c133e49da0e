import { BackpressureError, checkNames, isRecord } from '@webhook-backpressure/base';
import { fromBase64 } from './web-crypto.ts';

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
