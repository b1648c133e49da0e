import { checkNames } from '@webhook-backpressure/base';
import { fromBase64, fromHex } from '../encryption/web-crypto.ts';
import { rawSignatureOf } from './der.ts';
import { asEd25519, asP256, ED25519, P256 } from './public-keys.ts';
import { type KeyMaker, keysOf } from './secrets.ts';
import { checkFresh, checkSignedBy, freshness, required, VerificationError } from './signatures.ts';
import { withIdIn, type Verifier } from './verifier.ts';
import type { PublicKeyVerifierOptions } from './verifier-options.ts';

/** A sender that signs the timestamp and the body with a private key. */
interface KeyPairSender {
  readonly algorithm: object;
  readonly maker: KeyMaker;
  readonly header: string;
  readonly decode: (text: string) => Uint8Array | undefined;
  /** The header with the timestamp, in seconds. Default: only the body is signed. */
  readonly time?: string;
  readonly toleranceMs?: number;
  /** See {@link withIdIn}. */
  readonly id?: string;
}

export const KEY_PAIR_SENDERS: Readonly<Record<string, KeyPairSender>> = {
  // docs.discord.com, "setting up an endpoint", and discord-interactions, verifyKey. It retries events for ten minutes, and
  // does not say whether with a new timestamp: so 15 minutes. Interactions have an id.
  discord: {
    algorithm: ED25519,
    maker: asEd25519,
    header: 'x-signature-ed25519',
    decode: fromHex,
    time: 'x-signature-timestamp',
    toleranceMs: 900_000,
    id: 'id',
  },
  // marketplace.gohighlevel.com/docs/webhook/WebhookIntegrationGuide
  highlevel: {
    algorithm: ED25519,
    maker: asEd25519,
    header: 'x-ghl-signature',
    decode: fromBase64,
    id: 'webhookId',
  },
  // @sendgrid/eventwebhook, eventwebhook.js. It retries for a day, and does not say whether with a new timestamp.
  sendgridEvents: {
    algorithm: P256,
    maker: asP256,
    header: 'x-twilio-email-event-webhook-signature',
    decode: (text) => rawSignatureOf(fromBase64(text)),
    time: 'x-twilio-email-event-webhook-timestamp',
    toleranceMs: Infinity,
  },
};

/**
 * Makes the function of a sender in `verifiers`.
 *
 * @param name - the name of the function, and of the sender's profile.
 */
export function keyPairVerifier(
  name: string,
  { algorithm, maker, header, decode, time: timeHeader, toleranceMs, id }: KeyPairSender,
): (options: PublicKeyVerifierOptions) => Verifier {
  const names = ['publicKey', ...(timeHeader === undefined ? [] : ['toleranceMs', 'wallClock'])];
  return (options) => {
    checkNames(options, 'options', names as (keyof PublicKeyVerifierOptions)[]);
    const keys = keysOf(options.publicKey, maker, name, 'publicKey');
    const fresh = freshness(options, toleranceMs);
    const verify: Verifier = async (delivery) => {
      const time = timeHeader === undefined ? '' : required(delivery, timeHeader);
      if (timeHeader !== undefined) {
        // With a shorter timestamp, its end could be the start of another body.
        if (time.length !== 10) throw new VerificationError('The timestamp does not have ten digits.');
        checkFresh(time, 1000, fresh);
      }
      const given = [decode(required(delivery, header))];
      return checkSignedBy(algorithm, await keys(delivery), [time, delivery.rawBody], given);
    };
    return id === undefined ? verify : withIdIn(id, name, verify);
  };
}
