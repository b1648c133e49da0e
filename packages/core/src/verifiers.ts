import { github, paddle, shopify, slack, standardWebhooks, stripe } from './verifiers/body-verifiers.ts';
import type { TimedVerifierOptions, VerifierOptions } from './verifiers/body-verifiers.ts';
import { hubspot, twilio } from './verifiers/url-verifiers.ts';
import type { HubSpotVerifierOptions, TwilioVerifierOptions } from './verifiers/url-verifiers.ts';
import type { Verifier } from './verifiers/verifier.ts';

/**
 * Verifiers of the usual senders, for the option `verify` of an inbox. Each takes the `secret`, compares signatures in
 * constant time, and refuses a signature whose time is more than `toleranceMs` away, where the sender signs a time.
 *
 * @throws BackpressureError `ERR_WBP_SECRET` when the secret is missing, empty or not of the form in which the sender
 * shows it, and `ERR_WBP_VERIFIER` when another option is wrong.
 *
 * @example
 * ```ts
 * webhookInbox({ store, process, verify: verifiers.stripe({ secret: process.env.STRIPE_SECRET }) })
 * ```
 */
export const verifiers: {
  /** Symmetric signatures by the Standard Webhooks specification. Also takes Svix's names of the headers. */
  readonly standardWebhooks: (options: TimedVerifierOptions) => Verifier;
  /** The same as `standardWebhooks`. */
  readonly svix: (options: TimedVerifierOptions) => Verifier;
  readonly stripe: (options: TimedVerifierOptions) => Verifier;
  readonly github: (options: VerifierOptions) => Verifier;
  readonly shopify: (options: VerifierOptions) => Verifier;
  readonly slack: (options: TimedVerifierOptions) => Verifier;
  /** Needs `baseUrl`, since Twilio signs the whole URL. `secret` is the auth token. */
  readonly twilio: (options: TwilioVerifierOptions) => Verifier;
  /** The third version of HubSpot's signatures. Needs `baseUrl`. `secret` is the client secret of the app. */
  readonly hubspot: (options: HubSpotVerifierOptions) => Verifier;
  /** Paddle Billing. */
  readonly paddle: (options: TimedVerifierOptions) => Verifier;
} = Object.freeze({
  ...{ standardWebhooks, svix: standardWebhooks, stripe, github, shopify },
  ...{ slack, twilio, hubspot, paddle },
});
