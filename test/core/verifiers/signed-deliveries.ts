import { createHmac } from 'node:crypto';
import { sign as signForGitHub } from '@octokit/webhooks-methods';
import { type InboxRequest, type SecretOption, type Verifier, verifiers } from '@webhook-backpressure/inbox';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { expect } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';

/** A signed delivery. */
export interface Sent {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly url?: string;
}

export const NOW = 1_700_000_000_000;
export const SECONDS = String(NOW / 1000);
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
export const BODY = '{"id":"evt_1","name":"Ä"}';
export const BASE = 'https://shop.example';
export const FORM = 'application/x-www-form-urlencoded';

export const hmac = (secret: string, message: string, hash = 'sha256'): ReturnType<typeof createHmac> =>
  createHmac(hash, secret).update(message);

export interface Case {
  readonly make: (secret: SecretOption, wallClock?: () => number) => Verifier;
  /** The sender's delivery, signed with this secret at this time. */
  readonly sent: (secret: string, nowMs: number) => Promise<Sent> | Sent;
  readonly isTimed: boolean;
  /** The header with the signature. */
  readonly header: string;
}

export function standard(prefix: 'webhook' | 'svix'): Case {
  return {
    make: (secret, wallClock) => verifiers.standardWebhooks({ secret, wallClock }),
    sent: (secret, nowMs) => ({
      body: BODY,
      headers: {
        [`${prefix}-id`]: 'msg_1',
        [`${prefix}-timestamp`]: String(nowMs / 1000),
        [`${prefix}-signature`]: new Webhook(secret).sign('msg_1', new Date(nowMs), BODY),
      },
    }),
    isTimed: true,
    header: `${prefix}-signature`,
  };
}

export const cases: Record<string, Case> = {
  'Standard Webhooks': standard('webhook'),
  Svix: standard('svix'),
  Stripe: {
    make: (secret, wallClock) => verifiers.stripe({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const timestamp = nowMs / 1000;
      const header = Stripe.webhooks.generateTestHeaderString({ payload: BODY, secret, timestamp });
      return { body: BODY, headers: { 'stripe-signature': header } };
    },
    isTimed: true,
    header: 'stripe-signature',
  },
  GitHub: {
    make: (secret) => verifiers.github({ secret }),
    sent: async (secret) => ({
      body: BODY,
      headers: { 'x-hub-signature-256': await signForGitHub(secret, BODY) },
    }),
    isTimed: false,
    header: 'x-hub-signature-256',
  },
  Shopify: {
    make: (secret) => verifiers.shopify({ secret }),
    sent: (secret) => ({
      body: BODY,
      headers: { 'x-shopify-hmac-sha256': hmac(secret, BODY).digest('base64') },
    }),
    isTimed: false,
    header: 'x-shopify-hmac-sha256',
  },
  Slack: {
    make: (secret, wallClock) => verifiers.slack({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const time = String(nowMs / 1000);
      const signature = `v0=${hmac(secret, `v0:${time}:${BODY}`).digest('hex')}`;
      return {
        body: BODY,
        headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature },
      };
    },
    isTimed: true,
    header: 'x-slack-signature',
  },
  Twilio: {
    make: (secret) => verifiers.twilio({ secret, baseUrl: BASE }),
    sent: (secret) => ({
      body: 'To=%2B1800&Body=a+b',
      url: '/sms?shop=1',
      headers: {
        'content-type': FORM,
        'x-twilio-signature': hmac(secret, `${BASE}/sms?shop=1Bodya bTo+1800`, 'sha1').digest('base64'),
      },
    }),
    isTimed: false,
    header: 'x-twilio-signature',
  },
  HubSpot: {
    make: (secret, wallClock) => verifiers.hubspot({ secret, baseUrl: BASE, wallClock }),
    sent: (secret, nowMs) => {
      const message = `POST${BASE}/hooks?shop=1${BODY}${String(nowMs)}`;
      return {
        body: BODY,
        url: '/hooks?shop=1',
        headers: {
          'x-hubspot-request-timestamp': String(nowMs),
          'x-hubspot-signature-v3': hmac(secret, message).digest('base64'),
        },
      };
    },
    isTimed: true,
    header: 'x-hubspot-signature-v3',
  },
  Paddle: {
    make: (secret, wallClock) => verifiers.paddle({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const time = String(nowMs / 1000);
      const signature = hmac(secret, `${time}:${BODY}`).digest('hex');
      return { body: BODY, headers: { 'paddle-signature': `ts=${time};h1=${signature}` } };
    },
    isTimed: true,
    header: 'paddle-signature',
  },
};

/** The status with which an inbox with this verifier answers. */
export async function statusOf(
  verify: Verifier,
  { body, headers, url }: Sent,
  more: Partial<InboxRequest> = {},
): Promise<number> {
  const bench = new InboxBench({ verify });
  const { status } = await bench.deliver(undefined, body, headers, { url: url ?? '/webhooks', ...more });
  expect(bench.inbox.snapshot().totals.stored).toBe(status < 300 ? 1 : 0);
  return status < 300 ? 200 : status;
}
