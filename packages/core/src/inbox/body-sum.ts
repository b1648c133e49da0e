/** Two odd numbers without structure. */
const FIRST_FACTOR = 0x85eb_ca6b;
const SECOND_FACTOR = 0xc2b2_ae35;
const BYTES_PER_WORD = 4;

/** What a sum is made of: the bytes, or what somebody who has hidden them says of them. */
interface Summed {
  readonly rawBody: Uint8Array;
  readonly fingerprint?: Uint8Array | undefined;
}

/**
 * 32 bits by which a store tells that a duplicate has another body. It protects nothing: of four billion pairs that
 * differ, one is not noticed, and who wants to can make such a pair.
 */
export function bodySum({ rawBody, fingerprint }: Summed): number {
  return sumOf(fingerprint ?? rawBody);
}

/** Word by word, which takes a third of a millisecond for a mebibyte. */
function sumOf(bytes: Uint8Array): number {
  const { byteLength } = bytes;
  const count = Math.floor(byteLength / BYTES_PER_WORD);
  const isAligned = bytes.byteOffset % BYTES_PER_WORD === 0;
  const { buffer, byteOffset } = isAligned ? bytes : new Uint8Array(bytes);
  const words = new Uint32Array(buffer, byteOffset, count);
  let sum = byteLength | 0;
  for (const word of words) sum = mix(sum, word);
  for (let at = count * BYTES_PER_WORD; at < byteLength; at += 1) sum = mix(sum, bytes[at] ?? 0);
  sum = Math.imul(sum ^ (sum >>> 15), SECOND_FACTOR);
  return (sum ^ (sum >>> 16)) >>> 0;
}

function mix(sum: number, word: number): number {
  const product = Math.imul(sum ^ word, FIRST_FACTOR);
  return (product << 13) | (product >>> 19);
}
