import { checkNames, invalid, isRecord } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { fromBase64 } from '../encryption/web-crypto.ts';
import { publicKeyOf } from './der.ts';
import { rsaKey } from './public-keys.ts';
import { checkedFetch, type KeyFetch, RemoteKeys, textAt } from './remote-keys.ts';
import { checkFresh, checkSignedBy, freshness, type Message, required } from './signatures.ts';
import { UndecidedError, VerificationError } from './signatures.ts';
import { bodyOf, withIdIn, type Verifier } from './verifier.ts';
import type { ToleranceOptions } from './verifier-options.ts';

/*
 * Senders that sign with RSA and name the URL of their certificate. The certificate is trusted because its host is the
 * sender's, over TLS; the public key is read from it without node:crypto.
 */

/** Options of verifiers that fetch a certificate. */
export interface CertificateVerifierOptions extends ToleranceOptions {
  /**
   * The function that fetches certificates: the global `fetch`, or one with a proxy. Only URLs of the sender are fetched,
   * at most four and then one a second, for at most 5 s and 65,536 bytes each. They are cached for an hour, and for a
   * day while they cannot be fetched. While a certificate is not available, its deliveries are answered with 503.
   */
  fetch: KeyFetch;
}

/** Options of `verifiers.awsSns`. */
export interface AwsSnsVerifierOptions extends CertificateVerifierOptions {
  /** The ARN of the topic, or a list. Required: anyone with an AWS account can send you signed messages of other topics. */
  topicArn: string | readonly string[];
}

/** Options of `verifiers.paypal`. */
export interface PayPalVerifierOptions extends CertificateVerifierOptions {
  /** The id of the webhook in PayPal's dashboard, which is part of what PayPal signs. Required. */
  webhookId: string;
}

const RSA = 'RSASSA-PKCS1-v1_5';

function certificates(options: CertificateVerifierOptions, wallClock: () => number): RemoteKeys<Uint8Array> {
  const fetch = checkedFetch(options.fetch);
  return new RemoteKeys(async (url, signal) => {
    const key = publicKeyOf(await textAt(fetch, url, signal));
    if (key === undefined) throw new UndecidedError('The key server did not send a certificate.');
    return key;
  }, wallClock);
}

/** Of Amazon SNS, in all partitions. Nothing else at these hosts is to be taken for a certificate. */
const SNS_CERTIFICATE =
  /^https:\/\/sns\.[a-z\d-]{3,}\.amazonaws\.com(?:\.cn)?\/SimpleNotificationService-[\da-f]+\.pem$/;
const ARN = /^arn:[^:\s]+:sns:[^:\s]+:\d{12}:\S+$/;

/** What SNS signs, in order; absent fields are left out. */
const SNS_FIELDS = [
  'Message',
  'MessageId',
  'Subject',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
];
const ONLY_IN_CONFIRMATIONS = ['SubscribeURL', 'Token'];

/**
 * Verifies messages of Amazon SNS, signature versions 1 and 2. The id is `MessageId`. A topic with raw message delivery
 * sends no signature.
 * Source: docs.aws.amazon.com/sns, "verifying the signatures of Amazon SNS messages"; sns-validator.
 */
export function awsSns(options: AwsSnsVerifierOptions): Verifier {
  checkNames(options, 'options', ['topicArn', 'fetch', 'toleranceMs', 'wallClock']);
  const topics = topicsOf(options.topicArn);
  // A retry, up to an hour later, has the timestamp of the message.
  const fresh = freshness(options, Infinity);
  const remote = certificates(options, fresh.wallClock);
  return withIdIn('MessageId', 'aws-sns', async (delivery) => {
    const fields = textFieldsOf(delivery);
    const { SignatureVersion: version, SigningCertURL: url = '', Signature: signature = '' } = fields;
    if (version !== '1' && version !== '2')
      throw new VerificationError('The signature version is not 1 or 2.');
    if (!topics.includes(fields['TopicArn'] ?? '')) throw new VerificationError('The topic is another one.');
    if (!SNS_CERTIFICATE.test(url))
      throw new VerificationError('The certificate is not at a URL of Amazon SNS.');
    checkFresh(fields['Timestamp'] ?? '', 0, fresh);
    const message = snsMessage(fields);
    const hash = version === '1' ? 'SHA-1' : 'SHA-256';
    return remote.check(url, async (spki) =>
      checkSignedBy({ name: RSA }, [await rsaKey(spki, RSA, hash)], message, [fromBase64(signature)]),
    );
  });
}

function topicsOf(given: unknown): readonly unknown[] {
  const topics: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (topics.length > 0 && topics.every((topic) => typeof topic === 'string' && ARN.test(topic)))
    return topics;
  throw invalid('ERR_WBP_VERIFIER', 'topicArn', 'the ARN of a topic of Amazon SNS, or a list of them', given);
}

/** The fields of the body that are text. */
function textFieldsOf(delivery: RawDelivery): Readonly<Record<string, string>> {
  const body = bodyOf(delivery);
  if (!isRecord(body)) throw new VerificationError('The body is not a JSON object.');
  return Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

const SNS_TYPE = /^(?:Notification|(?:Subscription|Unsubscribe)Confirmation)$/;

/** Throws if the text could be that of other fields. `Message` may have line breaks, as long as no other field has. */
function snsMessage(fields: Readonly<Record<string, string>>): Message {
  const { Message: message, MessageId: id = '', Type: type = '' } = fields;
  const others = SNS_FIELDS.filter((name) => name !== 'Message').map((name) => fields[name] ?? '');
  if (
    message === undefined ||
    !/^[\da-f-]{36}$/.test(id) ||
    !SNS_TYPE.test(type) ||
    others.some((value) => value.includes('\n'))
  )
    throw new VerificationError('A signed field of the message is missing or malformed.');
  const isConfirmation = type !== 'Notification';
  return SNS_FIELDS.filter((name) => isConfirmation || !ONLY_IN_CONFIRMATIONS.includes(name)).flatMap(
    (name) => {
      const value = fields[name];
      return value === undefined ? [] : [`${name}\n${value}\n`];
    },
  );
}

const PAYPAL_CERTIFICATE = /^https:\/\/(?:[a-z\d-]+\.)*paypal\.com\/v1\/notifications\/certs\/[\w-]+$/;

/**
 * Verifies webhooks of PayPal. The id is that of the event. PayPal signs a CRC-32 of the body, which does not protect
 * against someone who has seen a signed delivery and changes its body: receive over TLS only.
 * Source: developer.paypal.com/api/rest/webhooks/rest, "self verification method".
 */
export function paypal(options: PayPalVerifierOptions): Verifier {
  checkNames(options, 'options', ['webhookId', 'fetch', 'toleranceMs', 'wallClock']);
  const { webhookId } = options;
  if (typeof (webhookId as unknown) !== 'string' || !/^\w+$/.test(webhookId))
    throw invalid('ERR_WBP_VERIFIER', 'webhookId', 'the id of a webhook of PayPal', webhookId);
  // It retries for three days, and does not say whether with a new time.
  const fresh = freshness(options, Infinity);
  const remote = certificates(options, fresh.wallClock);
  return withIdIn('id', 'paypal', async (delivery) => {
    const id = required(delivery, 'paypal-transmission-id');
    const time = required(delivery, 'paypal-transmission-time');
    const url = required(delivery, 'paypal-cert-url');
    const given = [fromBase64(required(delivery, 'paypal-transmission-sig'))];
    if (required(delivery, 'paypal-auth-algo').toUpperCase() !== 'SHA256WITHRSA')
      throw new VerificationError('The algorithm of the signature is unknown.');
    if (!PAYPAL_CERTIFICATE.test(url))
      throw new VerificationError('The certificate is not at a URL of PayPal.');
    checkFresh(time, 0, fresh);
    const message = `${id}|${time}|${webhookId}|${String(crc32(delivery.rawBody))}`;
    return remote.check(url, async (spki) =>
      checkSignedBy({ name: RSA }, [await rsaKey(spki, RSA, 'SHA-256')], [message], given),
    );
  });
}

/** As ISO 3309 and zlib define it. */
function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
