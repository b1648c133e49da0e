import { createHmac, sign } from 'node:crypto';
import {
  HMAC_SENDERS,
  type HmacScheme,
  KEY_PAIR_SENDERS,
  messageOf,
  schemesOf,
  signaturesOf,
  TOKEN_SENDERS,
} from '@webhook-backpressure/inbox/tool';
import { UsageError } from '@webhook-backpressure/planner/parts';
import { known } from '@webhook-backpressure/senders';
import { keyPairOf } from './key-pairs.ts';

/** A request to be signed. */
export interface Unsigned {
  /** With the headers of the sample, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Buffer;
  /** Path and query. */
  readonly url: string;
  /** Scheme and host of the endpoint. */
  readonly origin: string;
  /** The present time, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the headers of the signature, by their names in lower case. */
export type Sign = (request: Unsigned) => Record<string, string>;

/** How a sender signs, or why its requests are not signed. */
export interface Signer {
  readonly sign: Sign;
  /** For the user; undefined if the requests are signed with the secret. */
  readonly note: string | undefined;
}

const UNSIGNED: Sign = () => ({});

/**
 * How a sender signs, from the rows of its verifier.
 *
 * @param sender - the name of the profile.
 * @throws UsageError for a secret that the sender cannot have.
 */
export function signerOf(sender: string, secret: string | undefined): Signer {
  const names = Object.entries(known).flatMap(([name, profile]) => (profile.name === sender ? [name] : []));
  const own = [...names, sender].map((name) => signWith(name, secret ?? '')).find((one) => one !== undefined);
  if (own === undefined) return { sign: UNSIGNED, note: 'unsigned: its signature needs a key of the sender' };
  if (secret === undefined) return { sign: UNSIGNED, note: 'unsigned: --secret has none for it' };
  return own;
}

/** @param name - the sender's name in `verifiers`. */
function signWith(name: string, secret: string): Signer | undefined {
  const hmac = HMAC_SENDERS[name];
  if (hmac !== undefined) return { sign: byScheme(schemesOf(hmac.by), secret), note: undefined };
  const token = TOKEN_SENDERS[name];
  if (token !== undefined) return { sign: () => ({ [token]: secret }), note: undefined };
  if (KEY_PAIR_SENDERS[name] !== undefined) return byKeyPair(KEY_PAIR_SENDERS[name], secret);
  const other = OTHERS[name];
  return other === undefined ? undefined : { sign: other(secret), note: undefined };
}

/** Signs as the first scheme that the sample has a signature of. Other fields of the header stay as they are there. */
function byScheme(schemes: readonly HmacScheme[], secret: string): Sign {
  return (request) => {
    const scheme = schemes.find((one) => signaturesOf(one, request).length > 0);
    if (scheme === undefined) return {};
    const { header, list, time: place, encoding = 'hex', hash } = scheme;
    const name = Object.keys(request.headers).find((one) =>
      typeof header === 'string' ? one === header : header.test(one),
    );
    if (name === undefined) return {};
    const sample = request.headers[name] as string;
    const time = place === undefined ? '' : timeOf(request, place);
    const timed =
      place?.[0] === 'field' ? fieldReplaced(sample, [list?.[0] ?? ',', place[1]], time, 2) : sample;
    const headers = place?.[0] === 'header' ? { [place[1]]: time } : {};
    const message = messageOf(
      scheme,
      { ...request, headers: { ...request.headers, ...headers, [name]: timed } },
      time,
      request.origin,
    );
    const hmac = createHmac(hash === undefined ? 'sha256' : 'sha1', secret);
    for (const part of message) hmac.update(part);
    const signature = hmac.digest(encoding);
    return {
      ...headers,
      ...withSha1(request, name, secret),
      [name]: list === undefined ? signature : fieldReplaced(timed, list, signature),
    };
  };
}

/** GitHub and others that sign as it does also send the older signature with SHA-1. */
function withSha1({ headers, rawBody }: Unsigned, name: string, secret: string): Record<string, string> {
  if (name === 'x-hub-signature' || !headers['x-hub-signature']?.startsWith('sha1=')) return {};
  return { 'x-hub-signature': `sha1=${createHmac('sha1', secret).update(rawBody).digest('hex')}` };
}

function timeOf(
  { rawBody, nowMs }: Unsigned,
  [place, name, unitMs]: NonNullable<HmacScheme['time']>,
): string {
  if (place === 'body') return String((JSON.parse(rawBody.toString()) as Record<string, unknown>)[name]);
  return unitMs === 0 ? new Date(nowMs).toISOString() : String(Math.floor(nowMs / unitMs));
}

/** Replaces the value of the fields with a name, in a list such as `t=1,v1=ab`. Without a name, the `at`th from the end. */
function fieldReplaced(list: string, [separator, name]: Fields, value: string, at = 1): string {
  // Outpost's, whose fields are separated by two kinds of text.
  if (typeof separator !== 'string') return list.replace(/[\da-f]+$/, value);
  const fields = list.split(separator);
  if (name === '') return fields.with(-at, value).join(separator);
  const isNamed = (field: string): boolean => field.trim().startsWith(`${name}=`);
  return fields.map((field) => (isNamed(field) ? `${name}=${value}` : field)).join(separator);
}

type Fields = NonNullable<HmacScheme['list']>;
type KeyPairSender = (typeof KEY_PAIR_SENDERS)[string];

function byKeyPair({ algorithm, header, decode, time }: KeyPairSender, secret: string): Signer {
  const isEd25519 = (algorithm as { name: string }).name === 'Ed25519';
  const { privateKey, shown } = keyPairOf(secret, isEd25519);
  return {
    note: `signed with a key pair made from --secret; its public key is ${shown}`,
    sign: ({ rawBody, nowMs }) => {
      const seconds = String(Math.floor(nowMs / 1000));
      const message = Buffer.concat([Buffer.from(time === undefined ? '' : seconds), rawBody]);
      const signature = sign(isEd25519 ? null : 'sha256', message, privateKey);
      const hex = signature.toString('hex');
      const isHex = isEd25519 && decode(hex)?.byteLength === signature.byteLength;
      return {
        [header]: isHex ? hex : signature.toString('base64'),
        ...(time === undefined ? {} : { [time]: seconds }),
      };
    },
  };
}

/** Senders whose verifiers are no rows. */
const OTHERS: Readonly<Record<string, (secret: string) => Sign>> = {
  standardWebhooks: (secret) => standard('webhook', secret),
  svix: (secret) => standard('svix', secret),
  // packages/inbox/src/verifiers/url-verifiers.ts
  hubspot: (secret) => hubspot(secret),
  hubspotWorkflows: (secret) => hubspot(secret),
  twilio:
    (secret) =>
    ({ origin, url, rawBody }) => {
      const fields = [...new URLSearchParams(rawBody.toString())].sort(([a], [b]) => (a < b ? -1 : 1));
      const message = `${origin}${url}${fields.flat().join('')}`;
      return { 'x-twilio-signature': createHmac('sha1', secret).update(message).digest('base64') };
    },
};

function hubspot(secret: string): Sign {
  return ({ origin, url, rawBody, nowMs }) => ({
    'x-hubspot-request-timestamp': String(nowMs),
    'x-hubspot-signature-v3': createHmac('sha256', secret)
      .update(`POST${origin}${url}`)
      .update(rawBody)
      .update(String(nowMs))
      .digest('base64'),
  });
}

function standard(prefix: 'webhook' | 'svix', secret: string): Sign {
  const key = Buffer.from(secret.replace(/^(?:v1,)?whsec_/, ''), 'base64');
  // The specification asks for 24 to 64 bytes. Empty: there is no secret, and this is not used.
  if (secret !== '' && key.byteLength < 24)
    throw new UsageError(`--secret must be "whsec_" and base64 of at least 24 bytes for ${prefix}.`);
  return ({ headers, rawBody, nowMs }) => {
    const seconds = String(Math.floor(nowMs / 1000));
    const hmac = createHmac('sha256', key)
      .update(`${headers[`${prefix}-id`] ?? ''}.${seconds}.`)
      .update(rawBody);
    return { [`${prefix}-timestamp`]: seconds, [`${prefix}-signature`]: `v1,${hmac.digest('base64')}` };
  };
}
