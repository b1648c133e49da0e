import { Webhook } from 'standardwebhooks';

/** Kept as long as the settings of the endpoint. */
const signers = new WeakMap<readonly string[], readonly Webhook[]>();

/**
 * The headers of Standard Webhooks.
 *
 * @param secrets - the newest first: a signature for each. Empty: no signature.
 * @param id - of the event or batch; the same at each attempt.
 * @param sentAtMs - when the attempt starts, on the wall clock.
 * @param body - UTF-8.
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  sentAtMs: number,
  body: Uint8Array,
): Record<string, string> {
  const sentAt = new Date(sentAtMs);
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAtMs / 1000)),
  };
  if (secrets.length === 0) return headers;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  headers['webhook-signature'] = signersOf(secrets)
    .map((signer) => signer.sign(id, sentAt, text))
    .join(' ');
  return headers;
}

function signersOf(secrets: readonly string[]): readonly Webhook[] {
  const known = signers.get(secrets);
  if (known) return known;
  const made = secrets.map((secret) => new Webhook(secret));
  signers.set(secrets, made);
  return made;
}

// The library would ignore the text after a line break, and sign with another key than the receiver has.
const SECRET = /^(?:whsec_)?(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{4}|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{2}==)$/;

/** Whether a value is a secret of Standard Webhooks: base64, with or without `whsec_`. */
export function checkSecret(value: unknown): value is string {
  return typeof value === 'string' && SECRET.test(value);
}
