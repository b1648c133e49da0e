/**
 * libsql cuts a text off at a NUL and replaces what is no character, such as half of a pair: then two ids could
 * become one, and the second delivery be taken for a duplicate. So texts are kept as JSON writes them, without its
 * quotes; most are the same in it.
 */
export function encodeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** What was not written by {@link encodeText} is given back as it stands. */
export function decodeText(stored: string): string {
  if (!stored.includes('\\')) return stored;
  try {
    return JSON.parse(`"${stored}"`) as string;
  } catch {
    return stored;
  }
}
