declare const crypto: {
  randomUUID(): string;
  readonly subtle: { digest(name: string, data: Uint8Array): Promise<ArrayBuffer> };
};
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const MAX_CHARACTERS = 256;

/** An id for a delivery whose sender gave it none. */
export function generatedId(): string {
  return crypto.randomUUID();
}

/**
 * The id or the key itself, or its SHA-256 when it is long. Cut short, two of them could become one, and the second
 * delivery be taken for a duplicate of the first.
 */
export async function boundedName(name: string): Promise<string> {
  if (name.length <= MAX_CHARACTERS) return name;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
