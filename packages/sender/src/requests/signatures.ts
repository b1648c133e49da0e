import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { BackpressureError } from '@webhook-backpressure/base';
import { Webhook } from 'standardwebhooks';

/** Signs the content of a request: one value of the header `webhook-signature`. */
type Signer = (id: string, sentAt: Date, body: Buffer) => string;

/** Kept as long as the settings of the endpoint. */
const signers = new WeakMap<readonly string[], readonly Signer[]>();

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
  const signatures: string[] = [];
  for (const signer of signersOf(secrets)) signatures.push(signer(id, sentAt, text));
  headers['webhook-signature'] = signatures.join(' ');
  return headers;
}

function signersOf(secrets: readonly string[]): readonly Signer[] {
  const known = signers.get(secrets);
  if (known) return known;
  const made = secrets.map(signerOf);
  signers.set(secrets, made);
  return made;
}

function signerOf(secret: string): Signer {
  const key = privateKeyOf(secret);
  if (key === undefined) {
    const webhook = new Webhook(secret);
    return (id, sentAt, body) => webhook.sign(id, sentAt, body);
  }
  return (id, sentAt, body) => {
    const start = `${id}.${String(Math.floor(sentAt.getTime() / 1000))}.`;
    return `v1a,${sign(null, Buffer.concat([Buffer.from(start), body]), key).toString('base64')}`;
  };
}

// The library would ignore the text after a line break, and sign with another key than the receiver has. 32 characters are
// the 24 bytes that the specification asks for.
const SECRET = /^(?:whsec_)?(?:[A-Za-z\d+/]{4}){8,}(?:[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{2}==)?$/;

/**
 * Whether a value is a secret of Standard Webhooks: base64 of at least 24 bytes, with or without `whsec_`, or an Ed25519
 * key pair, `whsk_…`.
 */
export function checkSecret(value: unknown): value is string {
  return typeof value === 'string' && (SECRET.test(value) || privateKeyOf(value) !== undefined);
}

/** `whsk_` and base64 of 64 bytes: the seed of RFC 8032 and the public key. */
const KEY_PAIR = /^whsk_[A-Za-z\d+/]{86}==$/;
/** PKCS #8 (RFC 8410) of a private key, up to its seed. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

/** The private key of an Ed25519 key pair; undefined for anything else, and for halves that do not belong together. */
function privateKeyOf(secret: string): KeyObject | undefined {
  if (!KEY_PAIR.test(secret)) return undefined;
  const pair = Buffer.from(secret.slice('whsk_'.length), 'base64');
  const seed = pair.subarray(0, SEED_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const stated = pair.subarray(SEED_BYTES);
  return Buffer.from(publicHalf(key), 'base64url').equals(stated) ? key : undefined;
}

/** In base64url. */
function publicHalf(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'jwk' }).x ?? '';
}

/** An Ed25519 public key as a JSON Web Key (RFC 8037). */
export interface PublicKey {
  /** The type of the key. */
  readonly kty: 'OKP';
  /** The curve. */
  readonly crv: 'Ed25519';
  /** It verifies signatures. */
  readonly use: 'sig';
  /** The algorithm of the signatures. */
  readonly alg: 'EdDSA';
  /** The thumbprint of the key (RFC 7638). */
  readonly kid: string;
  /** The public key, in base64url. */
  readonly x: string;
}

/**
 * The JSON Web Key Set with which receivers verify the asymmetric signatures (`v1a`) of a sender. Serve it as JSON at an
 * https URL that the receivers know. During rotation it has the old and the new key.
 *
 * @param secrets - Ed25519 key pairs, `whsk_…`, as `secret` of an endpoint has them.
 * @throws BackpressureError `ERR_WBP_ENDPOINT_SECRET` for anything else: a symmetric secret has no public part.
 */
export function publicKeySet(secrets: readonly string[]): { readonly keys: readonly PublicKey[] } {
  const keys = secrets.map((secret): PublicKey => {
    const key = typeof (secret as unknown) === 'string' ? privateKeyOf(secret) : undefined;
    if (key === undefined)
      throw new BackpressureError(
        'ERR_WBP_ENDPOINT_SECRET',
        'publicKeySet() takes a list of Ed25519 key pairs: whsk_ and base64 of 64 bytes, the seed and the public key.',
      );
    const x = publicHalf(key);
    const thumbprint = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
    const kid = createHash('sha256').update(thumbprint).digest('base64url');
    return { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', kid, x };
  });
  return { keys };
}
