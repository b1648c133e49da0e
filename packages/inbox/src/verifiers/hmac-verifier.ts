import { checkNames } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { fromBase64, fromBase64Url, fromHex, utf8 } from '../encryption/web-crypto.ts';
import { asText, asTextForSha1, type KeyMaker, keysOf } from './secrets.ts';
import { checkFresh, checkSigned, fieldsIn, freshness, isEqual, required } from './signatures.ts';
import { type Message, VerificationError } from './signatures.ts';
import { checkedBaseUrl, targetOf, type UrlOptions } from './urls.ts';
import { fieldOf, withIdIn, type Verifier } from './verifier.ts';
import type { TimedVerifierOptions, VerifierOptions } from './verifier-options.ts';

type Fields = readonly [separator: string | RegExp, name: string];
type Time = readonly [place: 'field' | 'header' | 'body', name: string, unitMs: number];

/** How a sender signs with HMAC and a shared secret. */
export interface HmacScheme {
  /** The header with the signatures, or a pattern of several. */
  readonly header: string | RegExp;
  /** How signatures are written. Default: hexadecimal. */
  readonly encoding?: 'base64' | 'base64url';
  /** Default: SHA-256. */
  readonly hash?: 'SHA-1';
  /** The separator of the header's fields, and the name of those with signatures; '' for all. Default: one signature. */
  readonly list?: Fields;
  /** The timestamp: in a field of the list, a header or the body, and its unit in ms; 0 for RFC 3339. Default: none. */
  readonly time?: Time;
  /** See {@link freshness}. Only for senders with `time`. */
  readonly toleranceMs?: number;
  /**
   * The signed text, with `{body}`, `{time}` (as sent), `{url}`, `{@NAME}` for a header with an id, `{=NAME}` for a field of the list,
   * and `{headers}` for the headers that the field `h` names. Default: the body.
   */
  readonly message?: string;
  /** Whether the sender sends such a body. Without this, a part of the body could be signed as another part. Default: yes. */
  readonly accepts?: (delivery: RawDelivery) => boolean;
}

/** A sender that signs with HMAC. */
export interface HmacSender {
  /** Its scheme, or several of which the first with a signature in the request decides. */
  readonly by: HmacScheme | readonly HmacScheme[];
  /** Where its signed id is: see {@link withIdIn}. Default: in a header of its profile, or nowhere. */
  readonly id?: string;
}

/** What of a delivery a signature may cover. */
type Signable = Pick<RawDelivery, 'headers' | 'rawBody' | 'url'>;

const asToken: KeyMaker<Uint8Array> = { ...asText, keyOf: (bytes) => Promise.resolve(bytes) };

const DECODERS = { base64: fromBase64, base64url: fromBase64Url, hex: fromHex };

/**
 * Makes the function of a sender in `verifiers`.
 *
 * @param name - the name of the function, and of the sender's profile.
 */
export function hmacVerifier(
  name: string,
  { by, id }: HmacSender,
): (options: TimedVerifierOptions & UrlOptions) => Verifier {
  const schemes = schemesOf(by);
  const isTimed = schemes.some(({ time }) => time !== undefined);
  const hasUrl = schemes.some(({ message }) => message?.includes('{url}'));
  const names = ['secret', ...(isTimed ? ['toleranceMs', 'wallClock'] : []), ...(hasUrl ? ['baseUrl'] : [])];
  const maker = schemes.some(({ hash }) => hash === 'SHA-1') ? asTextForSha1 : asText;
  return (options) => {
    checkNames(options, 'options', names as (keyof typeof options)[]);
    const keys = keysOf(options.secret, maker, name);
    const baseUrl = hasUrl ? checkedBaseUrl(options.baseUrl) : '';
    const ways = schemes.map((scheme) => ({ scheme, fresh: freshness(options, scheme.toleranceMs) }));
    const verify: Verifier = async (delivery) => {
      const found = ways.map((way) => ({ ...way, signatures: signaturesOf(way.scheme, delivery) }));
      const way = found.find(({ signatures }) => signatures.length > 0);
      if (way === undefined) {
        const header = schemes[0]?.header;
        if (typeof header === 'string') required(delivery, header);
        throw new VerificationError('The request has no signature of this sender.');
      }
      const { scheme, fresh, signatures } = way;
      if (scheme.accepts?.(delivery) === false) throw new VerificationError('The sender sends no such body.');
      const time = scheme.time === undefined ? '' : timeOf(scheme, scheme.time, delivery);
      if (scheme.time !== undefined) checkFresh(time, scheme.time[2], fresh);
      const message = messageOf(scheme, delivery, time, baseUrl);
      return checkSigned(await keys(delivery), [message], signatures.map(DECODERS[scheme.encoding ?? 'hex']));
    };
    return id === undefined ? verify : withIdIn(id, name, verify);
  };
}

export function schemesOf(by: HmacSender['by']): readonly HmacScheme[] {
  return 'header' in by ? [by] : by;
}

/** Makes the function of a sender that sends its secret unchanged in a header. */
export function tokenVerifier(name: string, header: string): (options: VerifierOptions) => Verifier {
  return (options) => {
    checkNames(options, 'options', ['secret']);
    const tokens = keysOf(options.secret, asToken, name);
    return async (delivery) => {
      const given = utf8(required(delivery, header));
      const matches = (await tokens(delivery)).map((token) => isEqual(token, given));
      if (matches.includes(true)) return true;
      throw new VerificationError('The token does not match.');
    };
  };
}

/** The signatures in the request, not decoded. */
export function signaturesOf(
  { header, list }: HmacScheme,
  { headers }: Pick<RawDelivery, 'headers'>,
): string[] {
  const isHeader = (name: string): boolean =>
    typeof header === 'string' ? name === header : header.test(name);
  const values = Object.entries(headers).flatMap(([name, value]) => (isHeader(name) ? [value] : []));
  return values
    .flatMap((value) => (list === undefined ? [value] : fieldsIn(value, ...list)))
    .filter((value) => value !== '');
}

function timeOf(scheme: HmacScheme, [place, name]: Time, delivery: RawDelivery): string {
  if (place === 'header') return required(delivery, name);
  if (place === 'field') return listed(scheme, name, delivery);
  const found = fieldOf(delivery, name);
  return typeof found === 'number' ? String(found) : '';
}

/** The first value of a field in the list that the header of the signatures is. */
function listed(
  { header, list }: HmacScheme,
  name: string,
  { headers }: Pick<RawDelivery, 'headers'>,
): string {
  return fieldsIn(headers[header as string] ?? '', (list as Fields)[0], name)[0] ?? '';
}

/** The signed text of a delivery. */
export function messageOf(scheme: HmacScheme, delivery: Signable, time: string, baseUrl: string): Message {
  return (scheme.message ?? '{body}').split(/(\{[^}]*\})/).map((part) => {
    switch (part) {
      case '{body}':
        return delivery.rawBody;
      case '{time}':
        return time;
      case '{url}':
        return `${baseUrl}${targetOf(delivery)}`;
      case '{headers}':
        return namedHeaders(listed(scheme, 'h', delivery), delivery);
      default:
        if (part.startsWith('{@')) return signedId(delivery, part.slice(2, -1));
        return part.startsWith('{=') ? listed(scheme, part.slice(2, -1), delivery) : part;
    }
  });
}

/** Without colons and dots, so that it does not contain a timestamp. */
function signedId(delivery: Signable, header: string): string {
  const id = required(delivery, header);
  if (/^[\w=+/-]{1,128}$/.test(id)) return id;
  throw new VerificationError(`The header ${header} is not an id.`);
}

function namedHeaders(names: string, { headers }: Signable): string {
  const named = names.toLowerCase().split(' ');
  return named
    .filter((name) => name !== '')
    .map((name) => {
      // Without one, its value could be a part of another.
      if (Object.hasOwn(headers, name)) return headers[name];
      throw new VerificationError('A header that the signature names is missing.');
    })
    .join('.');
}
