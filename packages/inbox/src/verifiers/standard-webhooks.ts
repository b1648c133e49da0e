import { checkNames, invalid, isRecord, type Signal } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { type CryptoKey, fromBase64, subtle } from '../encryption/web-crypto.ts';
import { asEd25519, ED25519 } from './public-keys.ts';
import { checkedFetch, type KeyFetch, RemoteKeys, textAt } from './remote-keys.ts';
import { asStandardSecret, keysOf, type SecretOption } from './secrets.ts';
import { checkFresh, checkSigned, checkSignedBy, freshness, required } from './signatures.ts';
import { type Message, UndecidedError, VerificationError } from './signatures.ts';
import type { Verifier } from './verifier.ts';
import type { ToleranceOptions } from './verifier-options.ts';

/** Where the public keys of a sender are. */
export interface JwksOptions {
  /** An https URL with a JSON Web Key Set. */
  url: string;
  /** The function that fetches it: the global `fetch`, or one with a proxy. */
  fetch: KeyFetch;
}

/** Options of `verifiers.standardWebhooks`. Exactly one of `secret`, `publicKey` and `jwks` is required. */
export interface StandardWebhooksVerifierOptions extends ToleranceOptions {
  /** The secret of symmetric signatures (`v1`), `whsec_…`. An empty or missing one throws `ERR_WBP_SECRET`. */
  secret?: SecretOption;
  /** The Ed25519 public key of asymmetric signatures (`v1a`), `whpk_…`. */
  publicKey?: SecretOption;
  /**
   * The public keys of asymmetric signatures (`v1a`), at a URL. They are cached for an hour, and for a day while they
   * cannot be fetched. A signature of none of them lets them be fetched again, at most once a minute. While they are not available, deliveries are answered with 503.
   */
  jwks?: JwksOptions | undefined;
}

const NAMES: readonly (keyof StandardWebhooksVerifierOptions)[] = [
  'secret',
  'publicKey',
  'jwks',
  'toleranceMs',
  'wallClock',
];
const MAX_KEYS = 16;

type Check = (delivery: RawDelivery, message: Message, signatures: readonly string[]) => Promise<true>;

/**
 * Verifies Standard Webhooks, and Svix, which uses other header names: HMAC signatures with a secret, or Ed25519
 * signatures with a public key. A signature of the other kind does not count.
 * Source: github.com/standard-webhooks/standard-webhooks, spec; docs.svix.com, "verify manually".
 */
export function standardWebhooks(options: StandardWebhooksVerifierOptions): Verifier {
  checkNames(options, 'options', NAMES);
  const fresh = freshness(options);
  const check = checkOf(options, fresh.wallClock);
  const verify: Verifier = async (delivery) => {
    const { headers, rawBody } = delivery;
    const prefix = headers['webhook-id'] === undefined ? 'svix' : 'webhook';
    const id = required(delivery, `${prefix}-id`);
    // The specification forbids dots: the id could contain the timestamp and a part of the body.
    if (id.includes('.')) throw new VerificationError(`The header ${prefix}-id has a dot.`);
    // Only one of the two is signed. The other could make a replayed delivery look new.
    if ((headers['svix-id'] ?? id) !== id) throw new VerificationError('webhook-id and svix-id differ.');
    const time = required(delivery, `${prefix}-timestamp`);
    checkFresh(time, 1000, fresh);
    const signatures = required(delivery, `${prefix}-signature`).split(' ');
    return check(delivery, [`${id}.${time}.`, rawBody], signatures);
  };
  return Object.assign(verify, {
    id: ({ headers }: RawDelivery) => headers['webhook-id'] ?? headers['svix-id'],
    key: 'standard-webhooks',
  });
}

function checkOf(options: StandardWebhooksVerifierOptions, wallClock: () => number): Check {
  const { secret, publicKey, jwks } = options;
  if ([secret, publicKey, jwks].filter((one) => one !== undefined).length > 1) {
    throw invalid('ERR_WBP_VERIFIER', 'secret', 'the only one of secret, publicKey and jwks', options);
  }
  if (jwks !== undefined) return checkWithJwks(jwks, wallClock);
  if (publicKey !== undefined || ('publicKey' in options && secret === undefined)) {
    const keys = keysOf(publicKey, asEd25519, 'standardWebhooks', 'publicKey');
    return async (delivery, message, signatures) =>
      checkSignedBy(ED25519, await keys(delivery), message, versioned('v1a', signatures));
  }
  const keys = keysOf(secret, asStandardSecret, 'standardWebhooks');
  return async (delivery, message, signatures) =>
    checkSigned(await keys(delivery), [message], versioned('v1', signatures));
}

function checkWithJwks(jwks: JwksOptions, wallClock: () => number): Check {
  checkNames(jwks, 'jwks', ['url', 'fetch']);
  const { url } = jwks;
  const fetch = checkedFetch(jwks.fetch, 'jwks.fetch');
  if (typeof (url as unknown) !== 'string' || !/^https:\/\/[^/?#\s@\\]+(?:[/?#]\S*)?$/i.test(url))
    throw invalid('ERR_WBP_VERIFIER', 'jwks.url', 'an https URL without a user', url);
  const remote = new RemoteKeys((name, signal) => keySetAt(fetch, name, signal), wallClock);
  return async (_, message, signatures) => {
    const given = versioned('v1a', signatures);
    const keys = await remote.get(url);
    try {
      return await checkSignedBy(ED25519, keys, message, given);
    } catch (error) {
      const renewed = await remote.renewed(url);
      if (renewed === keys) throw error;
      return checkSignedBy(ED25519, renewed, message, given);
    }
  };
}

function versioned(version: string, signatures: readonly string[]): (Uint8Array | undefined)[] {
  const start = `${version},`;
  return signatures.filter((one) => one.startsWith(start)).map((one) => fromBase64(one.slice(start.length)));
}

/** The Ed25519 keys of a set (RFC 7517, RFC 8037). */
async function keySetAt(fetch: KeyFetch, url: string, signal: Signal): Promise<readonly CryptoKey[]> {
  const set: unknown = JSON.parse(await textAt(fetch, url, signal));
  const list: unknown = isRecord(set) ? set['keys'] : undefined;
  const keys = (Array.isArray(list) ? list : []).filter(
    (key: unknown) => isRecord(key) && key['crv'] === 'Ed25519' && key['use'] !== 'enc',
  ) as Record<string, unknown>[];
  const imported = await Promise.allSettled(
    keys
      .slice(0, MAX_KEYS)
      .map(({ x }) =>
        subtle().importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x }, ED25519, false, ['verify']),
      ),
  );
  // One malformed key must not make the others unavailable.
  const good = imported.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (good.length === 0) throw new UndecidedError('The key set has no Ed25519 key.');
  return good;
}
