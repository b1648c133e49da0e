import { github, paddle, shopify, slack, standardWebhooks, stripe } from './body-verifiers.ts';
import type { TimedVerifierOptions, VerifierOptions } from './body-verifiers.ts';
import { hubspot, twilio } from './url-verifiers.ts';
import type { HubSpotVerifierOptions, TwilioVerifierOptions } from './url-verifiers.ts';
import type { Verifier } from './verifier.ts';

/**
 * Verifiers for common senders, for the option `verify` of an inbox. Each verifier takes the `secret`, compares
 * signatures in constant time, and, if the sender signs a timestamp, rejects one more than `toleranceMs` away.
 *
 * @throws BackpressureError `ERR_WBP_SECRET` if the secret is missing, empty or not in the sender's format, and
 * `ERR_WBP_VERIFIER` if another option is invalid.
 *
 * @example
 * ```ts
 * webhookInbox({ store, process, verify: verifiers.stripe({ secret: process.env.STRIPE_SECRET }) })
 * ```
 */
export const verifiers: {
  /** Standard Webhooks, symmetric signatures (`v1`). Also accepts Svix's header names. */
  readonly standardWebhooks: (options: TimedVerifierOptions) => Verifier;
  /** The same as `standardWebhooks`. */
  readonly svix: (options: TimedVerifierOptions) => Verifier;
  /** Stripe: `Stripe-Signature`. `secret` is the signing secret of the endpoint (`whsec_…`). */
  readonly stripe: (options: TimedVerifierOptions) => Verifier;
  /** GitHub: `X-Hub-Signature-256`. `secret` is the secret of the webhook. No timestamp. */
  readonly github: (options: VerifierOptions) => Verifier;
  /** Shopify: `X-Shopify-Hmac-Sha256`. `secret` is the client secret of the app. No timestamp. */
  readonly shopify: (options: VerifierOptions) => Verifier;
  /** Slack: `X-Slack-Signature`. `secret` is the signing secret of the app. */
  readonly slack: (options: TimedVerifierOptions) => Verifier;
  /** Twilio: `X-Twilio-Signature`, which covers the full URL, so `baseUrl` is required. `secret` is the auth token. */
  readonly twilio: (options: TwilioVerifierOptions) => Verifier;
  /** HubSpot: `X-HubSpot-Signature-v3`. `baseUrl` is required. `secret` is the client secret of the app. */
  readonly hubspot: (options: HubSpotVerifierOptions) => Verifier;
  /** Paddle Billing: `Paddle-Signature`. `secret` is the secret key of the notification destination. */
  readonly paddle: (options: TimedVerifierOptions) => Verifier;
} = Object.freeze({
  standardWebhooks,
  svix: standardWebhooks,
  stripe,
  github,
  shopify,
  slack,
  twilio,
  hubspot,
  paddle,
});
