import { checkNames, checkOneOf, invalid } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { subtle } from '../encryption/web-crypto.ts';
import { asEd25519, asP256, asRsa, ED25519, P256 } from './public-keys.ts';
import { asText, type KeyMaker, keysOf, type SecretOption } from './secrets.ts';
import { byteMembers, type Component, type SignatureInput, signatureInputs } from './signature-input.ts';
import { checkFresh, checkSigned, checkSignedBy, freshness, isEqual, required } from './signatures.ts';
import { type Freshness, VerificationError } from './signatures.ts';
import { checkedBaseUrl, targetOf } from './urls.ts';
import { withIdIn, type Verifier } from './verifier.ts';
import type { ToleranceOptions } from './verifier-options.ts';

declare const URLSearchParams: new (query: string) => Iterable<[name: string, value: string]>;

/** The algorithms of HTTP message signatures that are verified. */
export type HttpSignatureAlgorithm =
  'hmac-sha256' | 'ed25519' | 'ecdsa-p256-sha256' | 'rsa-v1_5-sha256' | 'rsa-pss-sha512';

/** Options of `verifiers.httpSignatures`. */
export interface HttpSignatureVerifierOptions extends ToleranceOptions {
  /** The algorithm on which you and the sender agreed. Required: a request must not choose it. */
  algorithm: HttpSignatureAlgorithm;
  /**
   * The secret of `hmac-sha256`, as text or bytes, or the public key of the others, as PEM or its base64. A list during
   * rotation, or a function: see {@link SecretOption}. A missing, empty or malformed one throws `ERR_WBP_SECRET`.
   */
  key: SecretOption;
  /**
   * Components that a signature must cover, such as `@method` or `webhook-id`, in lower case. In any case it must cover
   * `content-digest`, or `@method` if there is no body, and have the parameter `created`. With
   * `webhook-id`, that header is the id. Default: none.
   */
  components?: readonly string[] | undefined;
  /**
   * The scheme and host that the sender signs, such as `https://shop.example`. Only if it signs them; required with the
   * components `@target-uri`, `@scheme` and `@authority`.
   */
  baseUrl?: string | undefined;
}

const NAMES: readonly (keyof HttpSignatureVerifierOptions)[] = [
  'algorithm',
  'key',
  'components',
  'baseUrl',
  'toleranceMs',
  'wallClock',
];
/** More signatures than any sender makes. */
const MAX_LABELS = 8;
const PSS: object = { name: 'RSA-PSS', saltLength: 64 };

/** Of each algorithm (RFC 9421, section 3.3): how its key is read, and how WebCrypto names it; HMAC is not verified by it. */
const ALGORITHMS: Readonly<Record<HttpSignatureAlgorithm, readonly [KeyMaker, object | undefined]>> = {
  'hmac-sha256': [asText, undefined],
  ed25519: [asEd25519, ED25519],
  'ecdsa-p256-sha256': [asP256, P256],
  'rsa-v1_5-sha256': [asRsa('RSASSA-PKCS1-v1_5', 'SHA-256'), { name: 'RSASSA-PKCS1-v1_5' }],
  'rsa-pss-sha512': [asRsa('RSA-PSS', 'SHA-512'), PSS],
};

/**
 * Verifies HTTP message signatures. One signature must be valid and cover the required components.
 * Source: RFC 9421; RFC 9530 for `content-digest`.
 */
export function httpSignatures(options: HttpSignatureVerifierOptions): Verifier {
  checkNames(options, 'options', NAMES);
  const { algorithm } = options;
  const components = checkedComponents(options.components ?? []);
  checkOneOf('ERR_WBP_VERIFIER', 'algorithm', algorithm, Object.keys(ALGORITHMS));
  const [maker, by] = ALGORITHMS[algorithm];
  const keys = keysOf(options.key, maker, 'httpSignatures', 'key');
  const needsUrl = components.some((name) => OF_BASE_URL.includes(name));
  const baseUrl = options.baseUrl === undefined && !needsUrl ? undefined : checkedBaseUrl(options.baseUrl);
  const fresh = freshness(options);
  const verify: Verifier = async (delivery) => {
    const inputs = signatureInputs(required(delivery, 'signature-input')).slice(0, MAX_LABELS);
    const signatures = byteMembers(required(delivery, 'signature'));
    const needed = [...components, delivery.rawBody.byteLength === 0 ? '@method' : 'content-digest'];
    let reason = new VerificationError('The request has no signature.');
    for (const input of inputs) {
      try {
        checkCovered(input, needed, algorithm, fresh);
        // Also without a body: someone may have removed it.
        if (input.components.some(({ name }) => name === 'content-digest')) await checkDigest(delivery);
        const message = [signatureBase(input, delivery, baseUrl)];
        const given = [signatures.get(input.label)];
        return await (by === undefined
          ? checkSigned(await keys(delivery), [message], given)
          : checkSignedBy(by, await keys(delivery), message, given));
      } catch (error) {
        if (!(error instanceof VerificationError)) throw error;
        reason = error;
      }
    }
    throw reason;
  };
  return components.includes('webhook-id') ? withIdIn('@webhook-id', 'http-signatures', verify) : verify;
}

const OF_BASE_URL: readonly string[] = ['@target-uri', '@scheme', '@authority'];
const COMPONENT_NAME =
  /^(?:@(?:method|target-uri|authority|scheme|request-target|path|query)|[a-z\d!#$%&'*+.^_`|~-]+)$/;

function checkedComponents(given: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [undefined];
  if (list.every((one) => typeof one === 'string' && COMPONENT_NAME.test(one)))
    return list as readonly string[];
  throw invalid('ERR_WBP_VERIFIER', 'components', 'a list of component names in lower case', given);
}

function checkCovered(
  { components, params }: SignatureInput,
  needed: readonly string[],
  algorithm: string,
  fresh: Freshness,
): void {
  const covered = components.filter((one) => Object.keys(one.params).length === 0).map(({ name }) => name);
  const missing = needed.find((name) => !covered.includes(name));
  if (missing !== undefined) throw new VerificationError(`The signature does not cover ${missing}.`);
  if (params['alg'] !== undefined && params['alg'] !== algorithm)
    throw new VerificationError(`The signature is not one of ${algorithm}.`);
  checkFresh(params['created'] ?? '', 1000, fresh);
  const { expires } = params;
  if (expires !== undefined && !(Number(expires) * 1000 >= fresh.wallClock()))
    throw new VerificationError('The signature has expired.');
}

const DIGESTS = { 'sha-256': 'SHA-256', 'sha-512': 'SHA-512' };

async function checkDigest(delivery: RawDelivery): Promise<void> {
  const digests = byteMembers(required(delivery, 'content-digest'));
  const known = Object.entries(DIGESTS).filter(([name]) => digests.has(name));
  if (known.length === 0) throw new VerificationError('The content-digest has neither sha-256 nor sha-512.');
  for (const [name, hash] of known) {
    const expected = new Uint8Array(await subtle().digest(hash, delivery.rawBody));
    if (!isEqual(expected, digests.get(name)))
      throw new VerificationError('The body does not match its content-digest.');
  }
}

/** RFC 9421, section 2.5. */
function signatureBase(
  { components, text }: SignatureInput,
  delivery: RawDelivery,
  baseUrl: string | undefined,
): string {
  if (new Set(components.map((one) => one.text)).size < components.length)
    throw new VerificationError('The signature covers a component twice.');
  const lines = components.map((one) => `${one.text}: ${valueOf(one, delivery, baseUrl)}\n`);
  return `${lines.join('')}"@signature-params": ${text}`;
}

function valueOf({ name, params }: Component, delivery: RawDelivery, baseUrl: string | undefined): string {
  const { method, headers } = delivery;
  const url = targetOf(delivery);
  const [path = '', ...query] = url.split('?');
  if (name === '@query-param') return queryParam(query.join('?'), params);
  // Other parameters select a part of a field, trailers, or the request of a response.
  if (Object.keys(params).length > 0)
    throw new VerificationError('A parameter of a component is not supported.');
  switch (name) {
    case '@method':
      return method;
    case '@request-target':
      return url;
    case '@path':
      return path;
    case '@query':
      return `?${query.join('?')}`;
    case '@target-uri':
      return `${baseOf(baseUrl)}${url}`;
    case '@scheme':
      return baseOf(baseUrl).replace(/:.*$/s, '').toLowerCase();
    case '@authority':
      return authorityOf(baseOf(baseUrl));
    default: {
      // A name such as `constructor` is not one of a header.
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      if (value === undefined) throw new VerificationError('A component of the signature is missing.');
      return value.trim();
    }
  }
}

function baseOf(baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return baseUrl;
  throw new VerificationError('The signature covers the host: set baseUrl.');
}

/** The host in lower case, without the port of its scheme. */
function authorityOf(baseUrl: string): string {
  const [, scheme = '', host = ''] = /^(https?):\/\/([^/]+)/i.exec(baseUrl.toLowerCase()) ?? [];
  return host.replace(scheme === 'https' ? /:443$/ : /:80$/, '');
}

function queryParam(query: string, { name, ...others }: Component['params']): string {
  const values = [...new URLSearchParams(query)].flatMap(([one, value]) =>
    encoded(one) === name ? [value] : [],
  );
  const [value] = values;
  if (value === undefined || values.length > 1 || Object.keys(others).length > 0)
    throw new VerificationError('A query parameter of the signature does not occur exactly once.');
  return encoded(value);
}

/** As the URL standard encodes forms, but with `%20` for a space. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
