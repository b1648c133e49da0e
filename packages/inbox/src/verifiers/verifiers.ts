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
  readonly adyen: (options: VerifierOptions) => Verifier;
  /** Asana: `X-Hook-Signature`. `secret` is the one of the handshake, which is not signed. No timestamp. */
  readonly asana: (options: VerifierOptions) => Verifier;
  /** Amazon SNS: signature versions 1 and 2, for one topic or several. Fetches certificates. */
  readonly awsSns: (options: AwsSnsVerifierOptions) => Verifier;
  /** Bitbucket: `X-Hub-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly bitbucket: (options: VerifierOptions) => Verifier;
  /** Braintree: `bt_signature` in the form. `secret` is the private key of the API. No timestamp. */
  readonly braintree: (options: VerifierOptions) => Verifier;
  /** Calendly: `Calendly-Webhook-Signature`. `secret` is the signing key of the subscription. */
  readonly calendly: (options: TimedVerifierOptions) => Verifier;
  /** Convoy: `X-Convoy-Signature`, SHA-256 in hexadecimal. `secret` is the secret of the endpoint. Simple signatures have no timestamp. */
  readonly convoy: (options: TimedVerifierOptions) => Verifier;
  /** Discord: interactions and webhook events, Ed25519. `publicKey` is the public key of the app. `toleranceMs`: 900,000 by default. */
  readonly discord: (options: PublicKeyVerifierOptions) => Verifier;
  /** DocuSign Connect: `X-DocuSign-Signature-1` and following. `secret` is the HMAC key of Connect. No timestamp. */
  readonly docusign: (options: VerifierOptions) => Verifier;
  /** Gitea and Forgejo: `X-Gitea-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly gitea: (options: VerifierOptions) => Verifier;
  /** GitHub: `X-Hub-Signature-256`. `secret` is the secret of the webhook. No timestamp. */
  readonly github: (options: VerifierOptions) => Verifier;
  /** GitLab: `X-Gitlab-Token`, which contains the `secret` and signs nothing. With a signing token, use `standardWebhooks`. */
  readonly gitlab: (options: VerifierOptions) => Verifier;
  /** HighLevel: `X-GHL-Signature`, Ed25519. `publicKey` is the key in its webhook guide. No timestamp. */
  readonly highlevel: (options: Omit<PublicKeyVerifierOptions, keyof ToleranceOptions>) => Verifier;
  /** Hook0: `X-Hook0-Signature`, versions 0 and 1. `secret` is the secret of the subscription. */
  readonly hook0: (options: TimedVerifierOptions) => Verifier;
  /** Hookdeck: `X-Hookdeck-Signature`. `secret` is the signing secret of the project. No timestamp. */
  readonly hookdeck: (options: VerifierOptions) => Verifier;
  /** HTTP message signatures (RFC 9421) with `content-digest` (RFC 9530). */
  readonly httpSignatures: (options: HttpSignatureVerifierOptions) => Verifier;
  /** HubSpot: `X-HubSpot-Signature-v3`. `baseUrl` is required. `secret` is the client secret of the app. */
  readonly hubspot: (options: HubSpotVerifierOptions) => Verifier;
  /** Intercom: `X-Hub-Signature`. `secret` is the client secret of the app. No timestamp. */
  readonly intercom: (options: VerifierOptions) => Verifier;
  /** Jira Cloud: `X-Hub-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly jira: (options: VerifierOptions) => Verifier;
  /** Kit: `X-Kit-Signature`. `secret` is the signing secret of the endpoint. */
  readonly kit: (options: TimedVerifierOptions) => Verifier;
  /** LINE: `X-Line-Signature`. `secret` is the channel secret. No timestamp. */
  readonly line: (options: VerifierOptions) => Verifier;
  /** Linear: `Linear-Signature`. `secret` is the signing secret of the webhook. */
  readonly linear: (options: TimedVerifierOptions) => Verifier;
  /** Mailgun: `signature` in the body, which does not cover the event. `secret` is the webhook signing key. `toleranceMs`: not checked by default. */
  readonly mailgun: (options: TimedVerifierOptions) => Verifier;
  /** Merge: `X-Merge-Webhook-Signature`. `secret` is the signature key of the organization. No timestamp. */
  readonly merge: (options: VerifierOptions) => Verifier;
  /** Meta, also WhatsApp, Messenger and Instagram: `X-Hub-Signature-256`. `secret` is the app secret. No timestamp. */
  readonly meta: (options: VerifierOptions) => Verifier;
  /** NMI: `Webhook-Signature`. `secret` is the signing key. No timestamp. */
  readonly nmi: (options: VerifierOptions) => Verifier;
  /** Outpost: `X-Outpost-Signature` in its default form. `secret` is the secret of the destination. No timestamp. */
  readonly outpost: (options: VerifierOptions) => Verifier;
  /** Paddle Billing: `Paddle-Signature`. `secret` is the secret key of the notification destination. */
  readonly paddle: (options: TimedVerifierOptions) => Verifier;
  /** PagerDuty: `X-PagerDuty-Signature`. `secret` is the secret of the subscription. No timestamp. */
  readonly pagerduty: (options: VerifierOptions) => Verifier;
  /** PayPal: `PayPal-Transmission-Sig`. `webhookId` is required. Fetches certificates. */
  readonly paypal: (options: PayPalVerifierOptions) => Verifier;
  /** Plaid: `Plaid-Verification`. `getKey` asks Plaid for a key. */
  readonly plaid: (options: PlaidVerifierOptions) => Verifier;
  /** QuickBooks: `Intuit-Signature`. `secret` is the verifier token. No timestamp. */
  readonly quickbooks: (options: VerifierOptions) => Verifier;
  /** Razorpay: `X-Razorpay-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly razorpay: (options: VerifierOptions) => Verifier;
  /** Recurly: `Recurly-Signature`, JSON only. `secret` is the secret key of the endpoint. */
  readonly recurly: (options: TimedVerifierOptions) => Verifier;
  /** Sanity: `Sanity-Webhook-Signature`. `secret` is the secret of the webhook. `toleranceMs`: not checked by default. */
  readonly sanity: (options: TimedVerifierOptions) => Verifier;
  /** SendGrid's Event Webhook: ECDSA. `publicKey` is its verification key. `toleranceMs`: not checked by default. */
  readonly sendgridEvents: (options: PublicKeyVerifierOptions) => Verifier;
  /** Sentry: `Sentry-Hook-Signature`. `secret` is the client secret of the integration. No timestamp. */
  readonly sentry: (options: VerifierOptions) => Verifier;
  /** Shopify: `X-Shopify-Hmac-Sha256`. `secret` is the client secret of the app. No timestamp. */
  readonly shopify: (options: VerifierOptions) => Verifier;
  /** Slack: `X-Slack-Signature`. `secret` is the signing secret of the app. */
  readonly slack: (options: TimedVerifierOptions) => Verifier;
  /** Square: `X-Square-HmacSha256-Signature`, which covers the full URL, so `baseUrl` is required. `secret` is the signature key of the subscription. */
  readonly square: (options: VerifierOptions & UrlOptions) => Verifier;
  /** Standard Webhooks: symmetric signatures (`v1`) with `secret`, asymmetric ones (`v1a`) with `publicKey` or `jwks`. Also accepts Svix's header names. */
  readonly standardWebhooks: (options: StandardWebhooksVerifierOptions) => Verifier;
  /** Stripe: `Stripe-Signature`. `secret` is the signing secret of the endpoint (`whsec_…`). */
  readonly stripe: (options: TimedVerifierOptions) => Verifier;
  /** The same as `standardWebhooks`. */
  readonly svix: (options: StandardWebhooksVerifierOptions) => Verifier;
  /** Telegram: `X-Telegram-Bot-Api-Secret-Token`, which contains the `secret` and signs nothing. */
  readonly telegram: (options: VerifierOptions) => Verifier;
  /** Twilio: `X-Twilio-Signature`, which covers the full URL, so `baseUrl` is required. `secret` is the auth token. */
  readonly twilio: (options: TwilioVerifierOptions) => Verifier;
  /** Twitch EventSub: `Twitch-Eventsub-Message-Signature`. `secret` is the one of the subscription. `toleranceMs`: 600,000 by default. */
  readonly twitch: (options: TimedVerifierOptions) => Verifier;
  /** Typeform: `Typeform-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly typeform: (options: VerifierOptions) => Verifier;
  /** WooCommerce: `X-WC-Webhook-Signature`. `secret` is the secret of the webhook. No timestamp. */
  readonly woocommerce: (options: VerifierOptions) => Verifier;
  /** Zendesk: `X-Zendesk-Webhook-Signature`. `secret` is the signing secret of the webhook. `toleranceMs`: not checked by default. */
  readonly zendesk: (options: TimedVerifierOptions) => Verifier;
  /** Zoom: `X-Zm-Signature`. `secret` is the secret token of the app. `toleranceMs`: not checked by default. */
  readonly zoom: (options: TimedVerifierOptions) => Verifier;
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
