/**
 * Encodes a string as JSON without the quotes, which leaves most strings as they are. PostgreSQL has no text with a NUL,
 * and UTF-8 has no lone surrogates: two ids could become the same, and the second delivery a duplicate.
 */
export function encodeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns text that {@link encodeText} did not write unchanged. */
export function decodeText(stored: string): string {
  if (!stored.includes('\\')) return stored;
  try {
    return JSON.parse(`"${stored}"`) as string;
  } catch {
    return stored;
  }
}
