import { checkNames } from '@webhook-backpressure/base';
import { fromBase64, fromHex } from '../encryption/web-crypto.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { keysOf, asStandardSecret, asText, type SecretOption } from './secrets.ts';
import { checkFresh, checkSigned, fieldsIn, freshness, required, VerificationError } from './signatures.ts';
import { withIdIn, type Verifier } from './verifier.ts';

/** Options of a verifier. */
export interface VerifierOptions {
  /** The signing secret. Required; an empty or missing secret throws `ERR_WBP_SECRET`. */
  secret: SecretOption;
}

/** Options of a verifier whose signatures contain a timestamp. */
export interface TimedVerifierOptions extends VerifierOptions {
  /**
   * The maximum distance between the signature's timestamp and the current time, in either direction. Milliseconds,
   * 1 to 86,400,000; default 300,000 (five minutes). An intercepted delivery can be replayed for this long.
   */
  toleranceMs?: number | undefined;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  wallClock?: (() => number) | undefined;
}

const PLAIN: readonly (keyof VerifierOptions)[] = ['secret'];
const TIMED: readonly (keyof TimedVerifierOptions)[] = ['secret', 'toleranceMs', 'wallClock'];

/**
 * Verifies Standard Webhooks, and Svix, which uses other header names. Symmetric signatures (`v1`) only.
 * Source: github.com/standard-webhooks/standard-webhooks, spec; docs.svix.com, "verify manually".
 */
export function standardWebhooks(options: TimedVerifierOptions): Verifier {
  checkNames(options, 'options', TIMED);
  const keys = keysOf(options.secret, asStandardSecret, 'standardWebhooks');
  const fresh = freshness(options);
  const verify: Verifier = async (delivery) => {
    const { headers, rawBody } = delivery;
    const prefix = headers['webhook-id'] === undefined ? 'svix' : 'webhook';
    const id = required(delivery, `${prefix}-id`);
    // Only one of the two is signed. The other could make a replayed delivery look new.
    if ((headers['svix-id'] ?? id) !== id) throw new VerificationError('webhook-id and svix-id differ.');
    const time = required(delivery, `${prefix}-timestamp`);
    checkFresh(time, 1000, fresh);
    const signatures = required(delivery, `${prefix}-signature`).split(' ');
    const given = signatures.filter((one) => one.startsWith('v1,')).map((one) => fromBase64(one.slice(3)));
    return checkSigned(await keys(delivery), [[`${id}.${time}.`, rawBody]], given);
  };
  return Object.assign(verify, {
    id: ({ headers }: RawDelivery) => headers['webhook-id'] ?? headers['svix-id'],
    key: 'standard-webhooks',
  });
}

/**
 * Verifies `Stripe-Signature` (`v1`). The id is that of the event, also of thin events.
 * Source: docs.stripe.com, "verify webhook signatures manually", and "handle duplicate events".
 */
export function stripe(options: TimedVerifierOptions): Verifier {
  checkNames(options, 'options', TIMED);
  const keys = keysOf(options.secret, asText, 'stripe');
  const fresh = freshness(options);
  return withIdIn('id', 'stripe', async (delivery) => {
    const header = required(delivery, 'stripe-signature');
    const [time = ''] = fieldsIn(header, ',', 't');
    checkFresh(time, 1000, fresh);
    const given = fieldsIn(header, ',', 'v1').map(fromHex);
    return checkSigned(await keys(delivery), [[`${time}.`, delivery.rawBody]], given);
  });
}

/** Verifies `X-Hub-Signature-256`. Source: docs.github.com, "validating webhook deliveries". */
export function github(options: VerifierOptions): Verifier {
  checkNames(options, 'options', PLAIN);
  const keys = keysOf(options.secret, asText, 'github');
  return async (delivery) => {
    const given = fieldsIn(required(delivery, 'x-hub-signature-256'), ',', 'sha256').map(fromHex);
    return checkSigned(await keys(delivery), [[delivery.rawBody]], given);
  };
}

/**
 * Verifies `X-Shopify-Hmac-Sha256`. Source: shopify.dev, "deliver webhooks through HTTPS", step "validate the origin of
 * your webhook".
 */
export function shopify(options: VerifierOptions): Verifier {
  checkNames(options, 'options', PLAIN);
  const keys = keysOf(options.secret, asText, 'shopify');
  return async (delivery) => {
    const given = [fromBase64(required(delivery, 'x-shopify-hmac-sha256'))];
    return checkSigned(await keys(delivery), [[delivery.rawBody]], given);
  };
}

/**
 * Verifies `X-Slack-Signature` (`v0`). `event_id` is unique across all workspaces. Commands and interactions have none, and
 * are never retried.
 * Source: docs.slack.dev, "verifying requests from Slack", and github.com/slackapi/slack-api-specs, events API.
 */
export function slack(options: TimedVerifierOptions): Verifier {
  checkNames(options, 'options', TIMED);
  const keys = keysOf(options.secret, asText, 'slack');
  const fresh = freshness(options);
  return withIdIn('event_id', 'slack', async (delivery) => {
    const time = required(delivery, 'x-slack-request-timestamp');
    checkFresh(time, 1000, fresh);
    const given = fieldsIn(required(delivery, 'x-slack-signature'), ',', 'v0').map(fromHex);
    return checkSigned(await keys(delivery), [[`v0:${time}:`, delivery.rawBody]], given);
  });
}

/**
 * Verifies `Paddle-Signature` (`h1`) of Paddle Billing, not of Paddle Classic. Source: developer.paddle.com, "verify
 * webhook signatures".
 */
export function paddle(options: TimedVerifierOptions): Verifier {
  checkNames(options, 'options', TIMED);
  const keys = keysOf(options.secret, asText, 'paddle');
  const fresh = freshness(options);
  return withIdIn('event_id', 'paddle', async (delivery) => {
    const header = required(delivery, 'paddle-signature');
    const [time = ''] = fieldsIn(header, ';', 'ts');
    checkFresh(time, 1000, fresh);
    const given = fieldsIn(header, ';', 'h1').map(fromHex);
    return checkSigned(await keys(delivery), [[`${time}:`, delivery.rawBody]], given);
  });
}
