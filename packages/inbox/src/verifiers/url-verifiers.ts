import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { checkNames } from '@webhook-backpressure/base';
import { fromBase64, fromHex, subtle } from '../encryption/web-crypto.ts';
import { asText, asTextForSha1, keysOf } from './secrets.ts';
import { checkFresh, checkSigned, freshness, isEqual, required, VerificationError } from './signatures.ts';
import { checkedBaseUrl, targetOf, type UrlOptions } from './urls.ts';
import type { Verifier } from './verifier.ts';
import type { TimedVerifierOptions, VerifierOptions } from './verifier-options.ts';

declare const URLSearchParams: new (query: string) => Iterable<[string, string]>;

/** Options of `verifiers.twilio`. */
export interface TwilioVerifierOptions extends VerifierOptions, UrlOptions {}

/** Options of `verifiers.hubspot`. */
export interface HubSpotVerifierOptions extends TimedVerifierOptions, UrlOptions {}

/**
 * Verifies `X-Twilio-Signature`. Twilio signs the URL with the fields of a form, or a URL that ends with the hash of the
 * body (`bodySHA256`). Any other body is not signed and is therefore rejected.
 * Source: twilio.com/docs/usage/webhooks/webhooks-security.
 */
export function twilio(options: TwilioVerifierOptions): Verifier {
  checkNames(options, 'options', ['secret', 'baseUrl']);
  const keys = keysOf(options.secret, asTextForSha1, 'twilio');
  const baseUrls = withAndWithoutPort(checkedBaseUrl(options.baseUrl));
  return async (delivery) => {
    const given = [fromBase64(required(delivery, 'x-twilio-signature'))];
    const fields = await signedFields(delivery);
    const target = targetOf(delivery);
    // Some Twilio products sign the port, others omit it. Twilio's own library tries both as well.
    const messages = baseUrls.map((baseUrl) => [baseUrl, target, fields]);
    return checkSigned(await keys(delivery), messages, given);
  };
}

/**
 * Verifies `X-HubSpot-Signature-v3`, over method, URL, body and timestamp.
 * Source: developers.hubspot.com, "validating requests", "validate the v3 signature".
 */
export function hubspot(options: HubSpotVerifierOptions): Verifier {
  checkNames(options, 'options', ['secret', 'baseUrl', 'toleranceMs', 'wallClock']);
  const keys = keysOf(options.secret, asText, 'hubspot');
  const fresh = freshness(options);
  const baseUrl = checkedBaseUrl(options.baseUrl);
  return async (delivery) => {
    const { method, rawBody } = delivery;
    const time = required(delivery, 'x-hubspot-request-timestamp');
    checkFresh(time, 1, fresh);
    const given = [fromBase64(required(delivery, 'x-hubspot-signature-v3'))];
    const url = `${baseUrl}${targetOf(delivery)}`;
    // HubSpot's page says that some escapes are decoded first. A URL signed unchanged is accepted as well.
    const urls = [...new Set([decodedForHubSpot(url), url])];
    const messages = urls.map((signed) => [method, signed, rawBody, time]);
    return checkSigned(await keys(delivery), messages, given);
  };
}

async function signedFields({ url, headers, rawBody, text }: RawDelivery): Promise<string> {
  // Twilio appends it. Elsewhere it may be from a field, because the signed text does not separate fields from the URL.
  const hash = /\?(?:.*&)?bodySHA256=([\da-f]{64})$/i.exec(url)?.[1];
  if (hash !== undefined) {
    const expected = new Uint8Array(await subtle().digest('SHA-256', rawBody));
    if (isEqual(expected, fromHex(hash))) return '';
    throw new VerificationError('The body does not match bodySHA256 in the URL.');
  }
  if (rawBody.byteLength === 0) return '';
  if (/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? ''))
    return sortedFields(text());
  throw new VerificationError(
    'Twilio does not sign this body: it is not a form, and the URL has no bodySHA256.',
  );
}

/** Names and values, sorted by name and then by value, without duplicates. */
function sortedFields(form: string): string {
  const valuesByName = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form)) {
    const values = valuesByName.get(name);
    if (values === undefined) valuesByName.set(name, new Set([value]));
    else values.add(value);
  }
  return [...valuesByName.keys()]
    .sort()
    .flatMap((name) => [...(valuesByName.get(name) ?? [])].sort().map((value) => name + value))
    .join('');
}

function withAndWithoutPort(baseUrl: string): readonly string[] {
  const [, origin = '', port = '', path = ''] = /^(https?:\/\/[^/]*?)(:\d+)?(\/.*)?$/i.exec(baseUrl) ?? [];
  const standard = /^https:/i.test(origin) ? ':443' : ':80';
  return [`${origin}${path}`, `${origin}${port === '' ? standard : port}${path}`];
}

/** The escapes that HubSpot decodes before signing. */
const DECODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

function decodedForHubSpot(url: string): string {
  return url.replace(DECODED, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
}
