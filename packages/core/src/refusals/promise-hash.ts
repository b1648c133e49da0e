const FNV_PRIME = 0x01000193;

/**
 * A hash of a key and a delivery id that is the same at all receivers: 53 bits of two 32-bit FNV-1a hashes, so that it
 * is a safe integer in JSON. A sender that finds a collision uses the promise of another delivery instead, and
 * gains nothing.
 */
export function promiseHash(key: string, id: string): number {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < key.length; i += 1) {
    const code = key.charCodeAt(i);
    a = Math.imul(a ^ code, FNV_PRIME);
    b = Math.imul(b ^ code, FNV_PRIME);
  }
  // Between the two: a code that is in no UTF-16 text.
  a = Math.imul(a ^ 0x10000, FNV_PRIME);
  b = Math.imul(b ^ 0x10000, FNV_PRIME);
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i);
    a = Math.imul(a ^ code, FNV_PRIME);
    b = Math.imul(b ^ code ^ (b >>> 15), FNV_PRIME);
  }
  return (a >>> 0) * 0x20_0000 + (b >>> 11);
}
