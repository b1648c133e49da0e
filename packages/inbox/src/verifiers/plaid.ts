import { checkFunction, checkNames, isRecord } from '@webhook-backpressure/base';
import { type CryptoKey, fromBase64Url, fromHex, subtle } from '../encryption/web-crypto.ts';
import { P256 } from './public-keys.ts';
import { RemoteKeys } from './remote-keys.ts';
import { checkFresh, checkSignedBy, freshness, isEqual, required, VerificationError } from './signatures.ts';
import type { Verifier } from './verifier.ts';
import type { ToleranceOptions } from './verifier-options.ts';

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

/** Options of `verifiers.plaid`. */
export interface PlaidVerifierOptions extends ToleranceOptions {
  /**
   * Returns the key of this id, `key` of Plaid's answer to `/webhook_verification_key/get`, or undefined if Plaid has no
   * such key. Called for unknown ids, at most four times and then once a second; a key is cached for an hour, and
   * for a day while it cannot be fetched. If it rejects, or takes more than 5 s, the delivery is answered with 503.
   */
  getKey: (keyId: string) => unknown;
}

interface PlaidKey {
  readonly key: CryptoKey;
  readonly expiresAtMs: number;
}

/**
 * Verifies `Plaid-Verification`, a token (ES256) with the hash of the body. Plaid's webhooks have no id.
 * Source: plaid.com/docs/api/webhooks/webhook-verification.
 */
export function plaid(options: PlaidVerifierOptions): Verifier {
  checkNames(options, 'options', ['getKey', 'toleranceMs', 'wallClock']);
  const { getKey } = options;
  checkFunction('ERR_WBP_VERIFIER', 'getKey', getKey);
  const fresh = freshness(options);
  const remote = new RemoteKeys(async (id) => importedKey(await getKey(id)), fresh.wallClock);
  return async (delivery) => {
    const token = required(delivery, 'plaid-verification');
    const [header = '', claims = '', signature = '', ...rest] = token.split('.');
    const { alg, kid } = decoded(header);
    // Plaid asks for this check: with another algorithm, the public key could be taken for a secret.
    if (alg !== 'ES256' || rest.length > 0) throw new VerificationError('The token is not one of ES256.');
    if (typeof kid !== 'string' || !/^[\w-]{1,128}$/.test(kid))
      throw new VerificationError('The token names no key.');
    await remote.check(kid, ({ key, expiresAtMs }) => {
      if (fresh.wallClock() >= expiresAtMs) throw new VerificationError('The key of the token has expired.');
      return checkSignedBy(P256, [key], [`${header}.${claims}`], [fromBase64Url(signature)]);
    });
    const { iat, request_body_sha256: hash } = decoded(claims);
    checkFresh(String(iat), 1000, fresh);
    const expected = new Uint8Array(await subtle().digest('SHA-256', delivery.rawBody));
    if (isEqual(expected, fromHex(String(hash)))) return true;
    throw new VerificationError('The body does not match the hash in the token.');
  };
}

function decoded(part: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(fromBase64Url(part) ?? new Uint8Array()));
    if (isRecord(fields)) return fields;
  } catch {
    // As below.
  }
  throw new VerificationError('The token is malformed.');
}

async function importedKey(given: unknown): Promise<PlaidKey> {
  if (!isRecord(given)) throw new VerificationError('The key of the token is unknown.');
  const { crv, kty, x, y, expired_at: expiredAt } = given;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await subtle().importKey('jwk', { crv, kty, x, y }, algorithm, false, ['verify']);
  return { key, expiresAtMs: typeof expiredAt === 'number' ? expiredAt * 1000 : Infinity };
}
