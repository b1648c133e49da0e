/** A request of a sender, without its body. Signatures, ids and addresses are invented. */
export interface Sample {
  /** The name of its profile. */
  readonly sender: string;
  readonly what: string;
  /** In the order and case in which the sender writes them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The delivery id, where it is in a header. */
  readonly id: string | undefined;
}

/** @param raw - the header lines. */
export function sample(sender: string, what: string, raw: string, id?: string): Sample {
  const lines = raw.split('\n').filter((line) => line.trim() !== '');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
  return { sender, what, headers, id };
}
