/** A key in the hands of the runtime; what it is made of cannot be read again. */
export interface CryptoKey {
  readonly type: string;
}

interface SubtleCrypto {
  importKey(
    format: 'raw',
    key: Uint8Array,
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
  encrypt(by: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>;
  decrypt(by: object, key: CryptoKey, data: Uint8Array): Promise<ArrayBuffer>;
}

/** What Node, Bun, Deno and Workers have in common; its types belong to none of them here. */
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

/** Asked for anew each time: a test may replace it, and a runtime may have none until it is needed. */
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

/** The bytes that a text stands for in hexadecimal, or undefined when it is none. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  );
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The bytes that a text stands for in base64, with or without its padding, or undefined when it is none. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\d+/a-z]*={0,2}$/i.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
