import type { SecretOption } from './secrets.ts';

/** Options of a verifier. */
export interface VerifierOptions {
  /** The signing secret. Required; an empty or missing secret throws `ERR_WBP_SECRET`. */
  secret: SecretOption;
}

/** How old a signed timestamp may be. */
export interface ToleranceOptions {
  /**
   * The maximum distance between the signature's timestamp and the current time, in either direction. Milliseconds,
   * 1 to 86,400,000. An intercepted delivery can be replayed for this long. Default: that of the sender, mostly 300,000
   * (five minutes). For senders that may repeat the first timestamp in a retry, it is not checked by default.
   */
  toleranceMs?: number | undefined;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  wallClock?: (() => number) | undefined;
}

/** Options of a verifier whose signatures contain a timestamp. */
export interface TimedVerifierOptions extends VerifierOptions, ToleranceOptions {}

/** Options of a verifier of a sender that signs with a private key. */
export interface PublicKeyVerifierOptions extends ToleranceOptions {
  /**
   * The public key, as the sender shows it; a list during rotation, or a function: see {@link SecretOption}. A missing,
   * empty or malformed one throws `ERR_WBP_SECRET`.
   */
  publicKey: SecretOption;
}
