import type { IntakeOptions, Tunable } from '../options.ts';
import type { SenderProfile } from '../sender-profile.ts';
import type { Signal } from '../abort.ts';
import type { InboxDelivery, RawDelivery } from './inbox-delivery.ts';
import type { InboxStore } from './inbox-store.ts';

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
  /** Attempts in all, the first one counted. Integer ≥ 1, default 8. After the last one it goes to the shelf. */
  attempts?: number | undefined;
  /** The longest delay before the second attempt, in milliseconds, from 0 to 86,400,000. Default 1,000. */
  firstDelayMs?: number | undefined;
  /**
   * The longest delay before any attempt, in milliseconds, from `firstDelayMs` to 86,400,000. Default 3,600,000. The
   * longest delay doubles from attempt to attempt up to this; the delay itself is anything up to it, by chance.
   */
  maxDelayMs?: number | undefined;
}

/** What can be changed while an inbox runs. Those of an intake mean here what they mean there, but for these. */
export interface InboxTunable extends Omit<Tunable, 'overflow' | 'maxConcurrencyPerKey'> {
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

/** The options of an inbox. `undefined` means absent. */
export interface InboxOptions extends InboxTunable, Pick<IntakeOptions, 'pressure' | 'clock' | 'random'> {
  /** Where deliveries are kept. It belongs to this inbox, which opens and closes it. */
  store: InboxStore;
  /**
   * Does the work. A delivery is completed when it returns, or when its promise resolves, and is tried again when it
   * throws or rejects. It may be called more than once for one delivery, also for one that it has finished.
   */
  process: (delivery: InboxDelivery, context: ProcessContext) => unknown;
  /**
   * Says whether a delivery is genuine, before anything is stored: when it throws, rejects, or returns `false`, `null`,
   * `0`, `NaN` or an empty string, or a promise of one, the answer is 401. `undefined` lets it in, as what a verifier
   * returns that throws, and so does any other value, an object that says no in a field as well. `false` in its place
   * says that there is nothing to verify.
   *
   * When it cannot tell, because a server with keys is down, it throws an error with `status: 503`: the delivery is
   * refused with 503, Retry-After and the reason `pressure`. One that takes longer than the sender waits is refused
   * with the reason `wait`, and what it says later does not count.
   */
  verify: ((delivery: RawDelivery) => unknown) | false;
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
  /** Profiles of senders, looked at before the built-in ones. Default none. */
  senders?: readonly SenderProfile[] | undefined;
  /** Decide and report, but let in whatever the store has place for. Default false. */
  dryRun?: boolean | undefined;
  /** The time of day, in milliseconds since 1970, for what is stored. Default `Date.now`. */
  wallClock?: (() => number) | undefined;
}
