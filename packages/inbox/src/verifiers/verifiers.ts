import { adyen, braintree, mailgun } from './body-signatures.ts';
import { awsSns, type AwsSnsVerifierOptions, paypal } from './certificate-senders.ts';
import type { PayPalVerifierOptions } from './certificate-senders.ts';
import { HMAC_SENDERS, TOKEN_SENDERS } from './hmac-senders.ts';
import { hmacVerifier, tokenVerifier } from './hmac-verifier.ts';
import { httpSignatures, type HttpSignatureVerifierOptions } from './http-signatures.ts';
import { KEY_PAIR_SENDERS, keyPairVerifier } from './key-pair-senders.ts';
import { plaid, type PlaidVerifierOptions } from './plaid.ts';
import { standardWebhooks, type StandardWebhooksVerifierOptions } from './standard-webhooks.ts';
import { hubspot, twilio } from './url-verifiers.ts';
import type { HubSpotVerifierOptions, TwilioVerifierOptions } from './url-verifiers.ts';
import type { UrlOptions } from './urls.ts';
import type { Verifier } from './verifier.ts';
import type { PublicKeyVerifierOptions, TimedVerifierOptions } from './verifier-options.ts';
import type { ToleranceOptions, VerifierOptions } from './verifier-options.ts';

type Make<Options> = (options: Options) => Verifier;

/** A function for each sender, by the names of `known` in the package senders. */
export interface Verifiers {
  /** Adyen: payment notifications, and others with `HmacSignature`. `secret` is the HMAC key in hexadecimal. No timestamp. */
  readonly adyen: Make<VerifierOptions>;
  /** Asana: `X-Hook-Signature`. `secret` is the one of the handshake, which is not signed. No timestamp. */
  readonly asana: Make<VerifierOptions>;
  /** Amazon SNS: signature versions 1 and 2, for one topic or several. Fetches certificates. */
  readonly awsSns: Make<AwsSnsVerifierOptions>;
  /** Bitbucket: `X-Hub-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly bitbucket: Make<VerifierOptions>;
  /** Braintree: `bt_signature` in the form. `secret` is the private key of the API. No timestamp. */
  readonly braintree: Make<VerifierOptions>;
  /** Calendly: `Calendly-Webhook-Signature`. `secret` is the signing key of the subscription. */
  readonly calendly: Make<TimedVerifierOptions>;
  /** Convoy: `X-Convoy-Signature`, SHA-256 in hexadecimal. `secret` is the secret of the endpoint. Simple signatures have no timestamp. */
  readonly convoy: Make<TimedVerifierOptions>;
  /** Discord: interactions and webhook events, Ed25519. `publicKey` is the public key of the app. `toleranceMs`: 900,000 by default. */
  readonly discord: Make<PublicKeyVerifierOptions>;
  /** DocuSign Connect: `X-DocuSign-Signature-1` and following. `secret` is the HMAC key of Connect. No timestamp. */
  readonly docusign: Make<VerifierOptions>;
  /** Gitea and Forgejo: `X-Gitea-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly gitea: Make<VerifierOptions>;
  /** GitHub: `X-Hub-Signature-256`. `secret` is the secret of the webhook. No timestamp. */
  readonly github: Make<VerifierOptions>;
  /** GitLab: `X-Gitlab-Token`, which contains the `secret` and signs nothing. With a signing token, use `standardWebhooks`. */
  readonly gitlab: Make<VerifierOptions>;
  /** HighLevel: `X-GHL-Signature`, Ed25519. `publicKey` is the key in its webhook guide. No timestamp. */
  readonly highlevel: Make<Omit<PublicKeyVerifierOptions, keyof ToleranceOptions>>;
  /** Hook0: `X-Hook0-Signature`, versions 0 and 1. `secret` is the secret of the subscription. */
  readonly hook0: Make<TimedVerifierOptions>;
  /** Hookdeck: `X-Hookdeck-Signature`. `secret` is the signing secret of the project. No timestamp. */
  readonly hookdeck: Make<VerifierOptions>;
  /** HTTP message signatures (RFC 9421) with `content-digest` (RFC 9530). */
  readonly httpSignatures: Make<HttpSignatureVerifierOptions>;
  /** HubSpot: `X-HubSpot-Signature-v3`. `baseUrl` is required. `secret` is the client secret of the app. */
  readonly hubspot: Make<HubSpotVerifierOptions>;
  /** Intercom: `X-Hub-Signature`. `secret` is the client secret of the app. No timestamp. */
  readonly intercom: Make<VerifierOptions>;
  /** Jira Cloud: `X-Hub-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly jira: Make<VerifierOptions>;
  /** Kit: `X-Kit-Signature`. `secret` is the signing secret of the endpoint. */
  readonly kit: Make<TimedVerifierOptions>;
  /** LINE: `X-Line-Signature`. `secret` is the channel secret. No timestamp. */
  readonly line: Make<VerifierOptions>;
  /** Linear: `Linear-Signature`. `secret` is the signing secret of the webhook. */
  readonly linear: Make<TimedVerifierOptions>;
  /** Mailgun: `signature` in the body, which does not cover the event. `secret` is the webhook signing key. `toleranceMs`: not checked by default. */
  readonly mailgun: Make<TimedVerifierOptions>;
  /** Merge: `X-Merge-Webhook-Signature`. `secret` is the signature key of the organization. No timestamp. */
  readonly merge: Make<VerifierOptions>;
  /** Meta, also WhatsApp, Messenger and Instagram: `X-Hub-Signature-256`. `secret` is the app secret. No timestamp. */
  readonly meta: Make<VerifierOptions>;
  /** NMI: `Webhook-Signature`. `secret` is the signing key. No timestamp. */
  readonly nmi: Make<VerifierOptions>;
  /** Outpost: `X-Outpost-Signature` in its default form. `secret` is the secret of the destination. No timestamp. */
  readonly outpost: Make<VerifierOptions>;
  /** Paddle Billing: `Paddle-Signature`. `secret` is the secret key of the notification destination. */
  readonly paddle: Make<TimedVerifierOptions>;
  /** PagerDuty: `X-PagerDuty-Signature`. `secret` is the secret of the subscription. No timestamp. */
  readonly pagerduty: Make<VerifierOptions>;
  /** PayPal: `PayPal-Transmission-Sig`. `webhookId` is required. Fetches certificates. */
  readonly paypal: Make<PayPalVerifierOptions>;
  /** Plaid: `Plaid-Verification`. `getKey` asks Plaid for a key. */
  readonly plaid: Make<PlaidVerifierOptions>;
  /** QuickBooks: `Intuit-Signature`. `secret` is the verifier token. No timestamp. */
  readonly quickbooks: Make<VerifierOptions>;
  /** Razorpay: `X-Razorpay-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly razorpay: Make<VerifierOptions>;
  /** Recurly: `Recurly-Signature`, JSON only. `secret` is the secret key of the endpoint. */
  readonly recurly: Make<TimedVerifierOptions>;
  /** Sanity: `Sanity-Webhook-Signature`. `secret` is the secret of the webhook. `toleranceMs`: not checked by default. */
  readonly sanity: Make<TimedVerifierOptions>;
  /** SendGrid's Event Webhook: ECDSA. `publicKey` is its verification key. `toleranceMs`: not checked by default. */
  readonly sendgridEvents: Make<PublicKeyVerifierOptions>;
  /** Sentry: `Sentry-Hook-Signature`. `secret` is the client secret of the integration. No timestamp. */
  readonly sentry: Make<VerifierOptions>;
  /** Shopify: `X-Shopify-Hmac-Sha256`. `secret` is the client secret of the app. No timestamp. */
  readonly shopify: Make<VerifierOptions>;
  /** Slack: `X-Slack-Signature`. `secret` is the signing secret of the app. */
  readonly slack: Make<TimedVerifierOptions>;
  /** Square: `X-Square-HmacSha256-Signature`, which covers the full URL, so `baseUrl` is required. `secret` is the signature key of the subscription. */
  readonly square: Make<VerifierOptions & UrlOptions>;
  /** Standard Webhooks: symmetric signatures (`v1`) with `secret`, asymmetric ones (`v1a`) with `publicKey` or `jwks`. Also accepts Svix's header names. */
  readonly standardWebhooks: Make<StandardWebhooksVerifierOptions>;
  /** Stripe: `Stripe-Signature`. `secret` is the signing secret of the endpoint (`whsec_…`). */
  readonly stripe: Make<TimedVerifierOptions>;
  /** The same as `standardWebhooks`. */
  readonly svix: Make<StandardWebhooksVerifierOptions>;
  /** Telegram: `X-Telegram-Bot-Api-Secret-Token`, which contains the `secret` and signs nothing. */
  readonly telegram: Make<VerifierOptions>;
  /** Twilio: `X-Twilio-Signature`, which covers the full URL, so `baseUrl` is required. `secret` is the auth token. */
  readonly twilio: Make<TwilioVerifierOptions>;
  /** Twitch EventSub: `Twitch-Eventsub-Message-Signature`. `secret` is the one of the subscription. `toleranceMs`: 600,000 by default. */
  readonly twitch: Make<TimedVerifierOptions>;
  /** Typeform: `Typeform-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly typeform: Make<VerifierOptions>;
  /** WooCommerce: `X-WC-Webhook-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly woocommerce: Make<VerifierOptions>;
  /** Zendesk: `X-Zendesk-Webhook-Signature`. `secret` is the signing secret of the webhook. `toleranceMs`: not checked by default. */
  readonly zendesk: Make<TimedVerifierOptions>;
  /** Zoom: `X-Zm-Signature`. `secret` is the secret token of the app. `toleranceMs`: not checked by default. */
  readonly zoom: Make<TimedVerifierOptions>;
}

/**
 * Verifiers for common senders, for the option `verify` of an inbox. Each verifier takes the `secret` or the public key,
 * compares signatures in constant time, and, if the sender signs a timestamp, rejects one more than `toleranceMs` away.
 *
 * @throws BackpressureError `ERR_WBP_SECRET` if the secret is missing, empty or not in the sender's format, and
 * `ERR_WBP_VERIFIER` if another option is invalid.
 *
 * @example
 * ```ts
 * webhookInbox({ store, process, verify: verifiers.stripe({ secret: process.env.STRIPE_SECRET }) })
 * ```
 */
export const verifiers: Verifiers = Object.freeze({
  ...ofTable(HMAC_SENDERS, hmacVerifier),
  ...ofTable(TOKEN_SENDERS, tokenVerifier),
  ...ofTable(KEY_PAIR_SENDERS, keyPairVerifier),
  adyen,
  awsSns,
  braintree,
  httpSignatures,
  hubspot,
  mailgun,
  paypal,
  plaid,
  standardWebhooks,
  svix: standardWebhooks,
  twilio,
}) as unknown as Verifiers;

function ofTable<Row, Options>(
  table: Readonly<Record<string, Row>>,
  make: (name: string, row: Row) => Make<Options>,
): Record<string, Make<Options>> {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, make(name, row)]));
}
