import type { Verifiers } from '@webhook-backpressure/inbox';
import type { Sent } from './signed.ts';

/** A delivery that the vendor's package accepts, or a published vector. */
export interface Recorded extends Sent {
  readonly verifier: keyof Verifiers;
  readonly source: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The time of the signature, if the verifier checks it. */
  readonly atMs?: number;
  /** A part of the body that is signed. Default: its end. */
  readonly signed?: string;
}

const AT_MS = 1_700_000_000_000;
const SECRET = 'recorded-secret-ß';

/**
 * Accepted by packages that are too large to install for the tests, in November 2026: each accepted the delivery, and
 * rejected it with another body.
 */
export const RECORDED: readonly Recorded[] = [
  {
    verifier: 'square',
    source: 'square 46.0.0, WebhooksHelper.verifySignature',
    options: { secret: SECRET, baseUrl: 'https://shop.example' },
    url: '/hooks?a=1',
    body: '{"event_id":"evt_1","text":"Grüße 👋"}',
    headers: { 'x-square-hmacsha256-signature': 'bds78myEfYLZSynzs5/gqdgKpsII7nYzfrLoZHLjRq4=' },
  },
  {
    verifier: 'line',
    source: '@line/bot-sdk 11.0.0, validateSignature',
    options: { secret: SECRET },
    body: '{"event_id":"evt_1","text":"Grüße 👋"}',
    headers: { 'x-line-signature': '1JPrj5vc0GXUskVNpZKx+qXR+NQjlSc255o9IsTw4w4=' },
  },
  {
    verifier: 'linear',
    source: '@linear/sdk 98.0.0, LinearWebhookClient.verify',
    options: { secret: SECRET },
    atMs: AT_MS,
    body: '{"action":"create","text":"Grüße 👋","evt":1,"webhookTimestamp":1700000000000}',
    headers: { 'linear-signature': '9fd31156f1e2a3f63b905617aaac4156e9bc3a0adcac795ca0e46a9603568fab' },
  },
  {
    verifier: 'paddle',
    source: '@paddle/paddle-node-sdk 3.10.0, webhooks.isSignatureValid',
    options: { secret: SECRET },
    atMs: AT_MS,
    body: '{"event_id":"evt_1","event_type":"transaction.completed","occurred_at":"2023-11-14T22:13:20Z","notification_id":"ntf_1","data":{"name":"Grüße 👋"}}',
    headers: {
      'paddle-signature': 'ts=1700000000;h1=8d4e67716bf7d2963ebcbdcbaccb60fa1876bc549070da2ec70061376568aaeb',
    },
  },
  {
    verifier: 'hubspot',
    source: '@hubspot/api-client 13.5.0, Signature.isValid',
    options: { secret: SECRET, baseUrl: 'https://shop.example' },
    atMs: AT_MS,
    url: '/hooks?a=1',
    body: '{"event_id":"evt_1","text":"Grüße 👋"}',
    headers: {
      'x-hubspot-request-timestamp': '1700000000000',
      'x-hubspot-signature-v3': '6D3mPi0m6/MOpTCdD5QoZiYsR0We49x2IrXhc2sZGJE=',
    },
  },
  {
    verifier: 'slack',
    source: '@slack/bolt 5.1.0, verifySlackRequest',
    options: { secret: SECRET },
    atMs: AT_MS,
    body: '{"event_id":"evt_1","text":"Grüße 👋"}',
    headers: {
      'x-slack-request-timestamp': '1700000000',
      'x-slack-signature': 'v0=f8dc4cde3e2ce83f7d4f6b73015b6dcfe77ba12eabf5a1935675031ee5375684',
    },
  },
  {
    verifier: 'twilio',
    source: 'twilio 6.3.1, validateRequest',
    options: { secret: SECRET, baseUrl: 'https://shop.example:8443' },
    url: '/sms?shop=1',
    body: 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%91%8B&To=%2B1800&evt=1',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': 'ypB0wA8jvP5KyYh28r2l/6OnYTU=',
    },
  },
  {
    verifier: 'twilio',
    source: 'twilio 6.3.1, validateRequest',
    options: { secret: SECRET, baseUrl: 'https://shop.example:8443' },
    url: '/sms?shop=1',
    body: 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%91%8B&To=%2B1800&evt=1',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': 'r0qyDv4odVu2hHEZjVTmXKsY8KY=',
    },
  },
  {
    verifier: 'twilio',
    source: 'twilio 6.3.1, validateRequest',
    options: { secret: SECRET, baseUrl: 'https://shop.example' },
    url: '/sms?shop=1',
    body: 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%91%8B&To=%2B1800&evt=1',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': 'XOrfpvOHOBXeC+eaBEgZigwmsjI=',
    },
  },
  {
    verifier: 'twilio',
    source: 'twilio 6.3.1, validateRequest',
    options: { secret: SECRET, baseUrl: 'https://shop.example:443' },
    url: '/sms?shop=1',
    body: 'Body=Gr%C3%BC%C3%9Fe+%F0%9F%91%8B&To=%2B1800&evt=1',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': 'r0qyDv4odVu2hHEZjVTmXKsY8KY=',
    },
  },
  {
    verifier: 'shopify',
    source: '@shopify/shopify-api 13.1.0, webhooks.validate',
    options: { secret: SECRET },
    body: '{"event_id":"evt_1","text":"Grüße 👋"}',
    headers: { 'x-shopify-hmac-sha256': '1JPrj5vc0GXUskVNpZKx+qXR+NQjlSc255o9IsTw4w4=' },
  },
  {
    verifier: 'adyen',
    source: '@adyen/api-library 32.1.0, HmacValidator.validateHMAC',
    options: { secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' },
    signed: 'evt_1',
    body: '{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"evt_1","originalReference":"","merchantAccountCode":"Grüße","merchantReference":"order 👋","amount":{"currency":"EUR","value":1130},"eventCode":"AUTHORISATION","success":"true","additionalData":{"hmacSignature":"bXilzo/TsmZ0ExAyJxIxMV6B9D5h4X0AvlVTf2XJ8w4="}}}]}',
    headers: {},
  },
  {
    verifier: 'adyen',
    source: '@adyen/api-library 32.1.0, HmacValidator.validateHMACSignature',
    options: { secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' },
    body: '{"type":"balancePlatform.transfer.created","text":"Grüße 👋","evt":1}',
    headers: { hmacsignature: '87jkl2xP/NnTuPZKikok7oDex3Jf/3eiCkAgkQ8Pyr0=' },
  },
  {
    verifier: 'zoom',
    source: '@zoom/rivet 0.4.0, AwsLambdaReceiver',
    options: { secret: SECRET },
    atMs: AT_MS,
    body: '{"event":"user.evt","event_ts":1,"payload":{"text":"Grüße 👋"}}',
    headers: {
      'x-zm-request-timestamp': '1700000000',
      'x-zm-signature': 'v0=fd6224b2b579982eebe220736bcbfa6f21bf854b1a2e0a56f068fe970599965a',
    },
  },
];
