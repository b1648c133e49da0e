/** A key held by the runtime. It cannot be exported. */
export interface CryptoKey {
  readonly type: string;
}

interface SubtleCrypto {
  importKey(
    format: 'raw' | 'spki' | 'jwk',
    key: Uint8Array | object,
    algorithm: object | string,
    isExtractable: false,
    uses: readonly string[],
  ): Promise<CryptoKey>;
  deriveKey(
    by: object,
    from: CryptoKey,
    to: object,
    isExtractable: false,
    uses: readonly string[],
  ): Promise<CryptoKey>;
  digest(name: string, data: Uint8Array): Promise<ArrayBuffer>;
  sign(name: string, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>;
  verify(by: object, key: CryptoKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>;
  encrypt(by: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>;
  decrypt(by: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>;
}

/** The common part of Node, Bun, Deno and Workers, typed here to depend on none of them. */
declare const crypto: {
  randomUUID(): string;
  getRandomValues(bytes: Uint8Array): Uint8Array;
  readonly subtle: SubtleCrypto;
};
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const atob: (text: string) => string;

const encoder = new TextEncoder();

export function randomUuid(): string {
  return crypto.randomUUID();
}

export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Read on every call: a test may replace it, and a runtime may provide it late. */
export function subtle(): SubtleCrypto {
  return crypto.subtle;
}

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Decodes hexadecimal; undefined if the text is not valid. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  );
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Decodes base64 in the alphabet of URLs. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
}

/** Decodes base64, with or without padding; undefined if the text is not valid. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\d+/a-z]*={0,2}$/i.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
