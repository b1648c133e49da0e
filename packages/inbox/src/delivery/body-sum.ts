/** The factors of MurmurHash3, 32 bits. */
const WORD_FACTORS = [0xcc9e_2d51, 0x1b87_3593] as const;
const END_FACTORS = [0x85eb_ca6b, 0xc2b2_ae35] as const;
const STEP = 0xe654_6b64;
const BYTES_PER_WORD = 4;
/** Of a large body only the beginning and the end: a batch may have 16 MiB, and summing it blocks the thread. */
const EDGE_BYTES = 16_384;

/** The input of a sum: the body, or the fingerprint of an encrypted one. */
export interface Summed {
  /** The bytes of the body, encrypted if `sealedBy` is set. */
  readonly rawBody: Uint8Array;
  /** A keyed hash of the plain body, if it is encrypted. */
  readonly fingerprint?: Uint8Array | undefined;
  /** The id of the key that encrypts the body, or undefined. */
  readonly sealedBy?: string | undefined;
}

/** Above the 32 bits of the body: 16 bits for the encryption key, 0 without one. */
const ORIGIN = 2 ** 32;
const ORIGINS = 0xffff;

/**
 * A 32-bit checksum that reveals a duplicate with another body, from its length and its bytes; above 32 KiB, from the
 * first and the last 16 KiB. Not a security feature: one in four billion differing pairs collides, and collisions can
 * be constructed.
 */
export function bodySum({ rawBody, fingerprint, sealedBy }: Summed): number {
  const bytes = fingerprint ?? rawBody;
  // The store rejects a body that is no bytes, with a better error.
  if (!ArrayBuffer.isView(bytes)) return 0;
  return originOf(sealedBy) * ORIGIN + sumOf(bytes);
}

/**
 * Whether two sums prove different bodies. Sums under different encryption keys cannot be compared; their bodies are
 * assumed to be the same.
 */
export function areOtherBodies(one: number, other: number): boolean {
  return Math.floor(one / ORIGIN) === Math.floor(other / ORIGIN) && one !== other;
}

function originOf(sealedBy: string | undefined): number {
  if (sealedBy === undefined) return 0;
  let sum = 0;
  for (let at = 0; at < sealedBy.length; at += 1) sum = mixed(sum ^ sealedBy.charCodeAt(at));
  return ((sum >>> 0) % ORIGINS) + 1;
}

function sumOf(bytes: Uint8Array): number {
  const { byteLength } = bytes;
  if (byteLength <= 2 * EDGE_BYTES) return murmur(bytes, byteLength);
  return murmur(bytes.subarray(-EDGE_BYTES), murmur(bytes.subarray(0, EDGE_BYTES), byteLength));
}

/** MurmurHash3. */
function murmur(bytes: Uint8Array, seed: number): number {
  const { byteLength } = bytes;
  const count = Math.floor(byteLength / BYTES_PER_WORD);
  const isAligned = bytes.byteOffset % BYTES_PER_WORD === 0;
  const { buffer, byteOffset } = isAligned ? bytes : new Uint8Array(bytes);
  const words = new Uint32Array(buffer, byteOffset, count);
  let sum = seed | 0;
  for (let at = 0; at < count; at += 1) {
    sum ^= mixed(words[at] as number);
    sum = (Math.imul((sum << 13) | (sum >>> 19), 5) + STEP) | 0;
  }
  let rest = 0;
  for (let at = byteLength - 1; at >= count * BYTES_PER_WORD; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0);
  sum ^= mixed(rest);
  sum = Math.imul(sum ^ (sum >>> 16), END_FACTORS[0]);
  sum = Math.imul(sum ^ (sum >>> 13), END_FACTORS[1]);
  return (sum ^ (sum >>> 16)) >>> 0;
}

function mixed(word: number): number {
  const product = Math.imul(word, WORD_FACTORS[0]);
  return Math.imul((product << 15) | (product >>> 17), WORD_FACTORS[1]);
}
