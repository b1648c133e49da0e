import { sign as signForGitHub, verify as verifyForGitHub } from '@octokit/webhooks-methods';
import { isValidSignature } from '@sanity/webhook';
import { verifyWebhookSignatureWithCurrentTime } from 'hook0-client';
import Razorpay from 'razorpay';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { base64, BODY, HAND, hex, hmac, packageOf, type Row, type Sent } from './signed.ts';

type Headers = (secret: string, seconds: string, nowMs: number) => Record<string, string>;

/** A delivery of {@link BODY} with these headers. */
export function withHeaders(headers: Headers, more: Partial<Sent> = {}): Row['sent'] {
  return (secret, nowMs) => ({
    body: BODY,
    headers: headers(secret, String(nowMs / 1000), nowMs),
    ...more,
  });
}

/** A sender that signs only the body, in one header. */
function plain(
  verifier: Row['verifier'],
  header: string,
  sign: (secret: string) => string,
  more: Partial<Row> = {},
): Row {
  return {
    verifier,
    against: HAND,
    header,
    sent: withHeaders((secret) => ({ [header]: sign(secret) })),
    ...more,
  };
}

const dotted = (secret: string, seconds: string): string =>
  `t=${seconds},v1=${hex(secret, `${seconds}.${BODY}`)}`;
const websub = (secret: string): string => `sha256=${hex(secret, BODY)}`;
const inHex = (secret: string): string => hex(secret, BODY);
const inBase64 = (secret: string): string => base64(secret, BODY);
const TOLERANCE = { toleranceMs: 300_000 };

export function standard(prefix: 'webhook' | 'svix'): Row {
  return {
    verifier: prefix === 'svix' ? 'svix' : 'standardWebhooks',
    against: packageOf('standardwebhooks'),
    sent: (secret, nowMs) => ({
      body: BODY,
      headers: {
        [`${prefix}-id`]: 'msg_1',
        [`${prefix}-timestamp`]: String(nowMs / 1000),
        [`${prefix}-signature`]: new Webhook(secret).sign('msg_1', new Date(nowMs), BODY),
      },
    }),
    ...TOLERANCE,
    header: `${prefix}-signature`,
    id: ['msg_1', 'standard-webhooks'],
  };
}

export const HMAC_ROWS: readonly Row[] = [
  standard('webhook'),
  standard('svix'),
  plain('asana', 'x-hook-signature', inHex),
  plain('bitbucket', 'x-hub-signature', websub),
  {
    verifier: 'calendly',
    against: HAND,
    header: 'calendly-webhook-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, seconds) => ({ 'calendly-webhook-signature': dotted(secret, seconds) })),
  },
  {
    verifier: 'convoy',
    against: 'vectors of Convoy',
    header: 'x-convoy-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, seconds) => ({
      'x-convoy-signature': `t=${seconds},v1=${hex(secret, `${seconds},${BODY}`)}`,
    })),
  },
  plain('docusign', 'x-docusign-signature-1', inBase64),
  plain('gitea', 'x-gitea-signature', inHex),
  {
    verifier: 'github',
    against: packageOf('@octokit/webhooks-methods'),
    header: 'x-hub-signature-256',
    sent: async (secret) => ({
      body: BODY,
      headers: { 'x-hub-signature-256': await signForGitHub(secret, BODY) },
    }),
    confirm: ({ body, headers }, secret) =>
      verifyForGitHub(secret, body, headers['x-hub-signature-256'] ?? ''),
  },
  {
    verifier: 'hook0',
    against: packageOf('hook0-client'),
    header: 'x-hook0-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, seconds) => {
      const named = 'x-event-id x-event-type';
      const signature = hex(secret, `${seconds}.${named}.e1.user.created.${BODY}`);
      return {
        'x-hook0-signature': `t=${seconds},h=${named},v1=${signature}`,
        'x-event-id': 'e1',
        'x-event-type': 'user.created',
      };
    }),
    confirm: ({ body, headers }, secret, nowMs) =>
      verifyWebhookSignatureWithCurrentTime(
        headers['x-hook0-signature'] ?? '',
        Buffer.from(body),
        new Headers(headers),
        secret,
        300,
        new Date(nowMs),
      ),
  },
  plain('hookdeck', 'x-hookdeck-signature', inBase64),
  plain('intercom', 'x-hub-signature', (secret) => `sha1=${hmac(secret, BODY, 'sha1').digest('hex')}`, {
    id: ['evt_1', 'intercom'],
  }),
  plain('jira', 'x-hub-signature', websub),
  {
    verifier: 'kit',
    against: HAND,
    header: 'x-kit-signature',
    ...TOLERANCE,
    sent: (secret, nowMs) => {
      const body = '{"delivery_id":"evt_1","events":["Ä"]}';
      const seconds = String(nowMs / 1000);
      return { body, headers: { 'x-kit-signature': `t=${seconds},v1=${hex(secret, `${seconds}.${body}`)}` } };
    },
    id: ['evt_1', 'kit'],
  },
  plain('line', 'x-line-signature', inBase64, { against: '`@line/bot-sdk` 11.0.0' }),
  {
    verifier: 'linear',
    against: '`@linear/sdk` 98.0.0',
    header: 'linear-signature',
    ...TOLERANCE,
    sent: (secret, nowMs) => {
      const body = `{"action":"create","title":"Ä","webhookTimestamp":${String(nowMs)}}`;
      return { body, headers: { 'linear-signature': hex(secret, body) } };
    },
  },
  plain('merge', 'x-merge-webhook-signature', (secret) =>
    inBase64(secret).replaceAll('+', '-').replaceAll('/', '_'),
  ),
  plain('meta', 'x-hub-signature-256', websub),
  plain('nmi', 'webhook-signature', (secret) => `t=nonce1,s=${hex(secret, `nonce1.${BODY}`)}`, {
    id: ['evt_1', 'nmi'],
  }),
  plain('outpost', 'x-outpost-signature', (secret) => `v0=${inHex(secret)}`),
  {
    verifier: 'paddle',
    against: '`@paddle/paddle-node-sdk` 3.10.0',
    header: 'paddle-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, seconds) => ({
      'paddle-signature': `ts=${seconds};h1=${hex(secret, `${seconds}:${BODY}`)}`,
    })),
    id: ['evt_1', 'paddle'],
  },
  {
    verifier: 'pagerduty',
    against: 'a vector of `go-pagerduty`',
    header: 'x-pagerduty-signature',
    sent: (secret) => {
      const body = '{"event":{"id":"evt_1","title":"Ä"}}';
      return { body, headers: { 'x-pagerduty-signature': `v1=${hex(secret, body)}` } };
    },
    id: ['evt_1', 'pagerduty'],
  },
  plain('quickbooks', 'intuit-signature', inBase64),
  plain('razorpay', 'x-razorpay-signature', inHex, {
    against: packageOf('razorpay'),
    confirm: ({ body, headers }, secret) =>
      Razorpay.validateWebhookSignature(body, headers['x-razorpay-signature'] ?? '', secret),
  }),
  {
    verifier: 'recurly',
    against: HAND,
    header: 'recurly-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, _, nowMs) => ({
      'recurly-signature': `${String(nowMs)},${hex(secret, `${String(nowMs)}.${BODY}`)}`,
    })),
  },
  {
    verifier: 'sanity',
    against: packageOf('@sanity/webhook'),
    header: 'sanity-webhook-signature',
    toleranceMs: Infinity,
    sent: withHeaders((secret, _, nowMs) => ({
      'sanity-webhook-signature': `t=${String(nowMs)},v1=${hmac(secret, `${String(nowMs)}.${BODY}`).digest('base64url')}`,
    })),
    confirm: ({ body, headers }, secret) =>
      isValidSignature(body, headers['sanity-webhook-signature'] ?? '', secret),
  },
  plain('sentry', 'sentry-hook-signature', inHex),
  plain('shopify', 'x-shopify-hmac-sha256', inBase64, { against: '`@shopify/shopify-api` 13.1.0' }),
  {
    verifier: 'slack',
    against: '`@slack/bolt` 5.1.0',
    header: 'x-slack-signature',
    ...TOLERANCE,
    sent: withHeaders((secret, seconds) => ({
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${hex(secret, `v0:${seconds}:${BODY}`)}`,
    })),
    id: ['evt_1', 'slack'],
  },
  {
    verifier: 'stripe',
    against: packageOf('stripe'),
    header: 'stripe-signature',
    ...TOLERANCE,
    sent: (secret, nowMs) => {
      const header = Stripe.webhooks.generateTestHeaderString({
        payload: BODY,
        secret,
        timestamp: nowMs / 1000,
      });
      return { body: BODY, headers: { 'stripe-signature': header } };
    },
    id: ['evt_1', 'stripe'],
  },
  {
    verifier: 'twitch',
    against: HAND,
    header: 'twitch-eventsub-message-signature',
    toleranceMs: 600_000,
    sent: withHeaders((secret, _, nowMs) => {
      const time = new Date(nowMs).toISOString().replace('Z', '634226Z');
      return {
        'twitch-eventsub-message-id': 'evt_1',
        'twitch-eventsub-message-timestamp': time,
        'twitch-eventsub-message-signature': `sha256=${hex(secret, `evt_1${time}${BODY}`)}`,
      };
    }),
    id: ['evt_1', 'twitch'],
  },
  plain('typeform', 'typeform-signature', (secret) => `sha256=${inBase64(secret)}`, {
    id: ['evt_1', 'typeform'],
  }),
  plain('woocommerce', 'x-wc-webhook-signature', inBase64),
  {
    verifier: 'zendesk',
    against: HAND,
    header: 'x-zendesk-webhook-signature',
    toleranceMs: Infinity,
    sent: withHeaders((secret, _, nowMs) => {
      const time = new Date(nowMs).toISOString();
      return {
        'x-zendesk-webhook-signature-timestamp': time,
        'x-zendesk-webhook-signature': base64(secret, `${time}${BODY}`),
      };
    }),
  },
  {
    verifier: 'zoom',
    against: '`@zoom/rivet` 0.4.0',
    header: 'x-zm-signature',
    toleranceMs: Infinity,
    sent: withHeaders((secret, seconds) => ({
      'x-zm-request-timestamp': seconds,
      'x-zm-signature': `v0=${hex(secret, `v0:${seconds}:${BODY}`)}`,
    })),
  },
];
