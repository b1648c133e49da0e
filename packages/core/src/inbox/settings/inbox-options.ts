import type { IntakeOptions, Tunable } from '../../intake/options.ts';
import type { SenderProfile } from '../../senders/sender-profile.ts';
import type { Signal } from '../../base/abort.ts';
import type { EncryptOptions } from './encrypt-options.ts';
import type { InboxDelivery, RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Json } from '../delivery/json.ts';

/** What a handler is told beside the delivery. */
export interface ProcessContext {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the handler has taken longer than `maxHandlingMs`, and when the inbox closes without it. */
  readonly signal: Signal;
}

/** The answer to a handshake that is told by its body. */
export interface HandshakeReply {
  /** Default 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string;
}

/** How a failed delivery is tried again. */
export interface RetryOptions {
  /**
   * Attempts in all, the first one counted. Integer ≥ 1, default 21, which takes about 71 hours with the default delays.
   * After the last one it goes to the shelf. Attempts that fail in an outage do not count.
   */
  attempts?: number | undefined;
  /** The longest delay before the second attempt, in milliseconds, from 0 to 86,400,000. Default 5,000. */
  firstDelayMs?: number | undefined;
  /**
   * The longest delay before any attempt, in milliseconds, from `firstDelayMs` to 604,800,000. Default 43,200,000: twelve
   * hours. The longest delay doubles from attempt to attempt up to this; the delay itself is by chance, half of it or more.
   */
  maxDelayMs?: number | undefined;
}

/** What can be changed while an inbox runs. Those of an intake mean here what they mean there, but for these. */
export interface InboxTunable extends Omit<Tunable, 'overflow'> {
  /** How many deliveries may be stored and unfinished. Integer ≥ 1, default 100,000. */
  capacity?: number | undefined;
  /**
   * The longest acceptable time in the inbox, in milliseconds. From 1 to 86,400,000; default none: what is stored can
   * wait. Where it is given, the inbox sheds when it holds more than is worked off in that time.
   */
  maxWaitMs?: number | undefined;
  /**
   * `refuse`: above the high-water mark a delivery is refused. `dead-letter`: it is kept on the shelf and acknowledged,
   * until the shelf holds `maxShelved` or `maxShelvedBytes`. Default `refuse`.
   */
  overflow?: 'refuse' | 'dead-letter' | undefined;
  /**
   * How many deliveries of one key may be in hand in this process: claimed, and either handled or about to be. Integer ≥ 1,
   * or a fraction of `concurrency`, above 0 and below 1, rounded down and at least one. Default none. Others are claimed
   * in its place.
   */
  maxConcurrencyPerKey?: number | undefined;
  /** How a failed delivery is tried again. At an update, fields that are absent stay. */
  retry?: RetryOptions | undefined;
  /** The largest body that is read, in bytes; a larger one gets 413. Integer ≥ 1, default 1,048,576. */
  maxBodyBytes?: number | undefined;
  /** What may be stored and unfinished in all, in bytes; the marks apply to it too. Integer ≥ 1, default 1 GiB. */
  maxBytes?: number | undefined;
  /**
   * For how long a completed id is remembered, in milliseconds. From 0 to 31,536,000,000, default 604,800,000: seven
   * days. A delivery that arrives again later is processed again.
   */
  retentionMs?: number | undefined;
  /**
   * How many completed ids are remembered, if they are no older than `retentionMs`. A store may remember an eighth
   * more. Integer ≥ 1, default 1,000,000. In a file an id takes some 50 bytes.
   */
  maxRemembered?: number | undefined;
  /**
   * How many deliveries may be on the shelf. Integer ≥ 1, default 100,000. Nothing is lost by it: at the limit, a delivery
   * whose last attempt has failed stays unfinished, and that attempt is made again after the longest delay.
   */
  maxShelved?: number | undefined;
  /** How much may be on the shelf, in bytes, in the same way. Integer ≥ 1, default 1 GiB. */
  maxShelvedBytes?: number | undefined;
  /**
   * For how long a delivery may be on the shelf, in milliseconds, from 1 to 31,536,000,000. Older ones are discarded,
   * each with an event: they are lost. Default none.
   */
  maxShelvedAgeMs?: number | undefined;
  /**
   * For how long completed deliveries are kept with their bodies, in milliseconds, so that they can be looked at and
   * replayed. From 0 to 31,536,000,000, default 0: not at all.
   */
  keepCompletedMs?: number | undefined;
  /** What may be kept of completed deliveries, in bytes; beyond it the oldest are let go. Integer ≥ 1, default 1 GiB. */
  maxKeptBytes?: number | undefined;
}

/** The options of an inbox. `undefined` means absent. `R` is what the framework calls a request. */
export interface InboxOptions<R = unknown>
  extends InboxTunable, Pick<IntakeOptions, 'pressure' | 'clock' | 'random'> {
  /** Where deliveries are kept. It belongs to this inbox, which opens and closes it. */
  store: InboxStore;
  /**
   * Does the work. A delivery is completed when it returns, or when its promise resolves, and is tried again when it
   * throws or rejects: after the delay of `retry`, or of a `RetryAfter` that it throws; an `Unrecoverable` puts it on the
   * shelf immediately. It may be called more than once for one delivery, also for one that it has finished.
   */
  process: (delivery: InboxDelivery, context: ProcessContext) => unknown;
  /**
   * Says whether a delivery is genuine, before anything is stored. Only a clear yes lets it in. When it throws or
   * rejects, or returns a falsy value, an empty array, an error, a function, or an object whose `valid`, `isValid`, `ok`,
   * `success` or `verified` is falsy, or a promise of one, the answer is 401. `undefined` is falsy too: a verifier that
   * throws and returns nothing is given as {@link throwing}`(verify)`. {@link verifiers} has those of the usual senders.
   * `false` in its place says that there is nothing to verify.
   *
   * When it cannot tell, because a server with keys is down, it throws an error with `status: 503`: the delivery is
   * refused with 503, Retry-After and the reason `pressure`. One that takes longer than the sender waits is refused
   * with the reason `wait`, and what it says later does not count.
   */
  verify: ((delivery: RawDelivery) => unknown) | false;
  /**
   * What else the callbacks are to know of a request, such as the tenant that a middleware has found: a JSON value of at
   * most 16,384 characters, stored with the delivery and handed to every callback as `context`. Called once, with the
   * request of the framework, before `verify`, and synchronous. Default, and where it returns undefined: null. What it
   * throws, and `ERR_WBP_CONTEXT` for what is no JSON or too long, goes to the error path of the framework.
   */
  context?: ((request: R) => Json | undefined) | undefined;
  /**
   * Headers that are not stored: a list of names, in any case, or a function that is asked for each name, in lower case.
   * It takes the place of the default list: `authorization`, `proxy-authorization`, `cookie`, `api-key`, `x-api-key`,
   * `x-auth-token`, `x-access-token`, `x-amz-security-token`, `x-forwarded-access-token`, `cf-access-client-secret`,
   * `x-gitlab-token`, `x-telegram-bot-api-secret-token`. `verify`, `id`, `keyGenerator` and `handshake` see all headers;
   * `process`, `onDead` and the shelf see what is stored.
   */
  redact?: readonly string[] | ((name: string) => boolean) | undefined;
  /**
   * Encrypts the body, the headers, the URL and the context of each delivery in the store, with AES-256-GCM. Default: none
   * is encrypted. Key, id, sender, times and errors stay readable.
   */
  encrypt?: EncryptOptions | undefined;
  /**
   * The delivery id, for senders that have it in the body. Default, and where it returns undefined or an empty
   * string: what the sender's profile says, else the header `webhook-id`, else one that is made up, so that nothing
   * is recognised when it comes again.
   */
  id?: ((delivery: RawDelivery) => string | undefined) | undefined;
  /** The key of a delivery. Default, and where it returns undefined: the name of the sender, else `default`. */
  keyGenerator?: ((delivery: RawDelivery) => string | undefined) | undefined;
  /**
   * Answers handshakes that are told by their body and need to know more than the sender: Zoom's, for instance.
   * Where it returns undefined or null, the delivery is an ordinary one. Asked after `verify`.
   */
  handshake?:
    | ((
        delivery: RawDelivery,
      ) => HandshakeReply | null | undefined | Promise<HandshakeReply | null | undefined>)
    | undefined;
  /** Told of each delivery that goes to the shelf because its last attempt has failed, and with what. */
  onDead?: ((delivery: InboxDelivery, error: string) => unknown) | undefined;
  /**
   * Strictly first in, first out within a key: one delivery of a key is in hand at a time, by all processes on the store
   * together, and one that fails holds back those behind it until it is completed or on the shelf. Keys are independent of
   * each other. Default false. All processes on one store must have the same: the last one to start decides.
   */
  ordered?: boolean | undefined;
  /** Profiles of senders, looked at before the built-in ones. Default none. */
  senders?: readonly SenderProfile[] | undefined;
  /** Decide and report, but let in whatever the store has place for. Default false. */
  dryRun?: boolean | undefined;
  /** The time of day, in milliseconds since 1970, for what is stored. Default `Date.now`. */
  wallClock?: (() => number) | undefined;
}
