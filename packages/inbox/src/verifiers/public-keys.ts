import { type CryptoKey, fromBase64, fromHex, subtle, toHex } from '../encryption/web-crypto.ts';
import type { KeyMaker } from './secrets.ts';

export const ED25519: object = { name: 'Ed25519' };
export const P256: object = { name: 'ECDSA', hash: 'SHA-256' };

/** What a SubjectPublicKeyInfo of these curves begins with, before the point. */
const ED25519_START = '302a300506032b6570032100';
const P256_START = '3059301306072a8648ce3d020106082a8648ce3d030107034200';
/** The same of RSA, with the size of what follows. */
const RSA_START = /^308[12]((?<=81)..|(?<=82)....)300d06092a864886f70d010101/;

/** Ed25519 keys of 32 bytes: in hexadecimal, in base64 also after `whpk_`, or as PEM or its base64. */
export const asEd25519: KeyMaker = {
  minBytes: 32,
  bytesOf: (text) => {
    const trimmed = text.trim();
    return /^[\da-f]{64}$/i.test(trimmed) ? fromHex(trimmed) : fromPem(trimmed.replace(/^whpk_/, ''));
  },
  checked: (bytes) => {
    if (bytes.byteLength === 44 && toHex(bytes).startsWith(ED25519_START)) return bytes.slice(12);
    return bytes.byteLength === 32 ? bytes : undefined;
  },
  keyOf: (bytes) => subtle().importKey('raw', bytes, ED25519, false, ['verify']),
};

/** Keys on the curve P-256, as PEM or its base64. */
export const asP256: KeyMaker = {
  minBytes: 91,
  bytesOf: fromPem,
  checked: (bytes) => (bytes.byteLength === 91 && toHex(bytes).startsWith(P256_START) ? bytes : undefined),
  keyOf: (bytes) =>
    subtle().importKey('spki', bytes, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']),
};

/** RSA keys of at least 1,024 bits, as PEM or its base64. */
export function asRsa(name: 'RSASSA-PKCS1-v1_5' | 'RSA-PSS', hash: string): KeyMaker {
  return {
    minBytes: 160,
    bytesOf: fromPem,
    checked: (bytes) => {
      const [, size = ''] = RSA_START.exec(toHex(bytes)) ?? [];
      // The size has one or two bytes, after two others.
      return Number.parseInt(size, 16) + 2 + size.length / 2 === bytes.byteLength ? bytes : undefined;
    },
    keyOf: (bytes) => rsaKey(bytes, name, hash),
  };
}

export function rsaKey(spki: Uint8Array, name: string, hash: string): Promise<CryptoKey> {
  return subtle().importKey('spki', spki, { name, hash }, false, ['verify']);
}

function fromPem(text: string): Uint8Array | undefined {
  return fromBase64(text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, ''));
}
