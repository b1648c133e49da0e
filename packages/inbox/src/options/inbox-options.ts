import type { CurrentOptions, IntakeOptions, Tunable } from '@webhook-backpressure/core';
import type { AllowedOrigins, SenderProfile } from '@webhook-backpressure/senders';
import type { Buckets } from '@webhook-backpressure/fleet';
import type { Signal } from '@webhook-backpressure/base';
import type { EncryptOptions } from '../encryption/encryption.ts';
import type { InboxDelivery, RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { BatchHandler, BatchOptions } from './batch-options.ts';
import type { Json } from '../delivery/json.ts';
import type { LimitsOfKey } from './key-limits.ts';

/** The second argument of `process`, and of the handlers of `on`. */
export interface ProcessContext {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the handler takes longer than `maxHandlingMs`, and when the inbox closes before it has ended. */
  readonly signal: Signal;
  /**
   * Completes the delivery within a transaction of the handler: its effects and the completion are committed together, or
   * neither is. Call it last in the transaction, and await it. When `process` then returns, the worker asks the store
   * whether the transaction was committed: if not, the attempt has failed, as it has when a call failed.
   *
   * @param client - of `postgresStore`: a client of `pg` that has run `BEGIN`, or a function `(text, values)` that runs a
   * statement in the transaction and resolves to its rows, or to an object with `rows`. Of `sqliteStore`: a connection to the
   * same file, by the library that the store uses. With it the call has done its work, or has thrown, when it returns.
   * @throws BackpressureError `ERR_WBP_CLAIM_LOST` (as a rejection, with SQLite synchronously) when another process has taken
   * the delivery over, or the attempt has ended; `ERR_WBP_TRANSACTION` when the client has no open transaction or belongs
   * to another database, or the store has none; and what the client throws. Then the transaction must be rolled back.
   */
  readonly complete: (client: unknown) => Promise<void>;
}

/** Processes a delivery. It is completed when the function returns or resolves, and retried when it throws or rejects. */
export type DeliveryHandler = (delivery: InboxDelivery, context: ProcessContext) => unknown;

/** The answer to a handshake that is recognized from its body. */
export interface HandshakeReply {
  /** Default 200. */
  readonly status?: number | undefined;
  /** The headers of the response. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body of the response. */
  readonly body: string;
}

/** How failed deliveries are retried. */
export interface RetryOptions {
  /**
   * All attempts, including the first. Integer ≥ 1, default 21: about 71 hours with the default delays. After the last
   * one the delivery moves to the dead-letter queue. Attempts that fail in an outage do not count.
   */
  attempts?: number | undefined;
  /** The longest delay before the second attempt, in milliseconds, from 0 to 86,400,000. Default 5,000. */
  firstDelayMs?: number | undefined;
  /**
   * The longest delay before any attempt, in milliseconds, from `firstDelayMs` to 604,800,000. Default 43,200,000: twelve
   * hours. The longest delay doubles with each attempt up to this; the actual delay is random, from half of it to all.
   */
  maxDelayMs?: number | undefined;
}

/**
 * With which status stored deliveries are acknowledged, unless the sender's profile names its only success status. A
 * response with 204 or 205 has no body.
 */
export interface SuccessStatusOptions {
  /** For senders that are known to accept any 2xx: `success: '2xx'` in their profile. Integer from 200 to 299, default 202. */
  known?: number | undefined;
  /** For all other senders: several accept nothing but 200. Integer from 200 to 299, default 200. */
  unknown?: number | undefined;
}

/** The options that `update` can change. Options of an intake mean the same here, except for those below. */
export interface InboxTunable extends Omit<Tunable, 'overflow'> {
  /** The most deliveries that may be stored and unfinished. Integer ≥ 1, default 100,000. */
  capacity?: number | undefined;
  /**
   * The longest acceptable time in the inbox, in milliseconds, from 1 to 86,400,000. With it, the inbox sheds when it
   * holds more deliveries than it can process in that time. Default: no limit.
   */
  maxWaitMs?: number | undefined;
  /**
   * `refuse`: a delivery is refused above the high-water mark. `dead-letter`: it is acknowledged and stored in the
   * dead-letter queue until that holds `maxDeadLetters` deliveries or `maxDeadLetterBytes`. Default `refuse`.
   */
  overflow?: 'refuse' | 'dead-letter' | undefined;
  /**
   * The most deliveries of one key that this process claims at a time, running or about to run. Integer ≥ 1, or a
   * fraction of `concurrency`, above 0 and below 1, rounded down and at least one. Other keys use the free workers.
   * Default: no limit.
   */
  maxConcurrencyPerKey?: number | undefined;
  /**
   * Returns the limits of a key: its rate and its concurrency over all processes, and its share. Synchronous and cheap: it is
   * asked again for a key in use every 10 s, so it may read a table that changes. Until it returns something valid for a key,
   * after an error or an invalid result, the last valid limits apply, else one delivery at a time and one per second; a
   * process warning names the first such error. Once set, it cannot be removed: let it return undefined. Default: no limits.
   */
  limits?: LimitsOfKey | undefined;
  /** How failed deliveries are retried. An update leaves absent fields unchanged. */
  retry?: RetryOptions | undefined;
  /** The status of acknowledgements. An update leaves absent fields unchanged. */
  successStatus?: SuccessStatusOptions | undefined;
  /** The largest accepted body, in bytes; a larger one is answered with 413. Integer ≥ 1, default 1,048,576. */
  maxBodyBytes?: number | undefined;
  /** The most bytes that may be stored and unfinished; the marks apply to it too. Integer ≥ 1, default 1 GiB. */
  maxBytes?: number | undefined;
  /**
   * How long a completed id is remembered, in milliseconds, from 0 to 31,536,000,000. A delivery that arrives again later
   * is processed again. Default 604,800,000: seven days.
   */
  retentionMs?: number | undefined;
  /**
   * The most completed ids that are remembered for `retentionMs`. A store may remember an eighth more. Integer ≥ 1,
   * default 1,000,000. In a file an id takes some 50 bytes.
   */
  maxRemembered?: number | undefined;
  /**
   * The most dead letters, counted every 5 s. Integer ≥ 1, default 100,000. No delivery is lost at the limit: one whose
   * last attempt fails stays unfinished, and that attempt is repeated after the longest delay.
   */
  maxDeadLetters?: number | undefined;
  /** The most bytes of dead letters, with the same effect. Integer ≥ 1, default 1 GiB. */
  maxDeadLetterBytes?: number | undefined;
  /**
   * How long dead letters are kept, in milliseconds, from 1 to 31,536,000,000. Older ones are deleted, each with a
   * `discarded` event, and are lost. Default: forever.
   */
  maxDeadLetterAgeMs?: number | undefined;
  /**
   * How long completed deliveries are kept with their bodies, to be listed and replayed, in milliseconds, from 0 to
   * 31,536,000,000. Default 0: not at all.
   */
  keepCompletedMs?: number | undefined;
  /** The most bytes of kept completed deliveries; beyond it the oldest are deleted. Integer ≥ 1, default 1 GiB. */
  maxKeptBytes?: number | undefined;
}

/** The options of an inbox. `undefined` means absent. `R` is the request type of the framework. */
export interface InboxOptions<R = unknown>
  extends InboxTunable, Pick<IntakeOptions, 'pressure' | 'clock' | 'random'> {
  /** Stores the deliveries. The inbox opens and closes it; no other inbox may use the same object. */
  store: InboxStore;
  /**
   * Processes a delivery that matches no handler of `on`. The delivery is completed when `process` returns or resolves. When it throws or rejects, it is
   * retried after the delay of `retry`, or after that of a thrown `RetryAfter`; a thrown `Unrecoverable` moves the
   * delivery to the dead-letter queue. May be called more than once for a delivery, even for one it has finished.
   */
  process?: DeliveryHandler | undefined;
  /**
   * Processes deliveries of one key together, instead of `process`: for one insert, or one call of an API, for many. All are
   * completed when it returns or resolves to nothing, and all fail when it throws or rejects. If it returns an array, with
   * one result for each delivery in their order, an `Error` (also a `RetryAfter` or `Unrecoverable`), a promise that
   * rejects or a rejected result of `Promise.allSettled` fails that delivery, and anything else completes it; an array of
   * another length fails all. Each delivery has its own attempts, retries and dead letter. `concurrency` counts batches.
   * Not with `process`, `on` or `ordered`.
   */
  processBatch?: BatchHandler | undefined;
  /** How deliveries are collected for `processBatch`. Default: up to 100 that are stored, and 1 MB. */
  batch?: BatchOptions | undefined;
  /**
   * Returns the group of a delivery within its key, or null for none. Of the due deliveries of a group, the newest by its
   * receipt is processed, and the older ones are completed with it, with `as: 'coalesced'` in their events. If it fails,
   * they wait for its retry; if it becomes a dead letter, the next newest is processed. It is the newest of those that are
   * looked at: of the first 100 that are due in the key, or of a batch. A delivery that was older and failed before may be
   * processed after a newer one. Synchronous. Not with `ordered`.
   */
  coalesce?: ((delivery: InboxDelivery) => string | null | undefined) | undefined;
  /**
   * Handlers by type: `sender`, `sender:event.type`, `sender:*`, `*:event.type` or `*`, where the sender is that of the
   * delivery and the event type that of `eventTypeOf`. A delivery that matches one handler is passed to it instead of
   * `process`. If it matches several, a delivery for each of them replaces it, with the handler's name at the end of its id:
   * it has its own attempts, retries and dead letter. Without `process`, a delivery that matches none is completed, with
   * `as: 'unmatched'` in its event. `{}`: handlers are added by `Inbox.on`. Default: none.
   */
  on?: Readonly<Record<string, DeliveryHandler>> | undefined;
  /**
   * Verifies a delivery before it is stored. `false` instead of a function: deliveries are not verified. A delivery is
   * answered with 401 when `verify` throws or rejects, or returns (or resolves to) a falsy value, an empty array, an
   * error, a function, or an object whose `valid`, `isValid`, `ok`, `success` or `verified` is falsy. `undefined` is
   * falsy too: wrap a verifier that throws and returns nothing in {@link throwing}. {@link verifiers} holds verifiers for
   * common senders.
   *
   * To report that it cannot decide, because a key server is down, `verify` throws an error with `status: 503`: the
   * delivery is refused with 503, Retry-After and the reason `pressure`. If it takes longer than the sender waits, the
   * delivery is refused with the reason `wait`, and the later result is ignored.
   */
  verify: ((delivery: RawDelivery) => unknown) | false;
  /**
   * Adds data of the request to the delivery, such as the tenant that a middleware has found: a JSON value of at most
   * 16,384 characters, stored with the delivery and passed to every callback as `context`. Synchronous, called once with
   * the framework's request, before `verify`. Errors go to the error path of the framework, with `ERR_WBP_CONTEXT` for a
   * value that is not JSON or too long. Default, and when it returns undefined: null.
   */
  context?: ((request: R) => Json | undefined) | undefined;
  /**
   * Headers that are not stored: a list of names in any case, or a function that gets each name in lower case. Replaces
   * the default list: `authorization`, `proxy-authorization`, `cookie`, `api-key`, `x-api-key`, `x-auth-token`,
   * `x-access-token`, `x-amz-security-token`, `x-forwarded-access-token`, `cf-access-client-secret`, `x-gitlab-token`,
   * `x-telegram-bot-api-secret-token`. `verify`, `id`, `keyGenerator` and `handshake` see all headers; `process`,
   * `onDead` and operators see the stored ones.
   */
  redact?: readonly string[] | ((name: string) => boolean) | undefined;
  /**
   * Encrypts the body, the headers, the URL and the context of each delivery in the store, with AES-256-GCM. Key, id,
   * sender, times and errors stay readable. Default: no encryption.
   */
  encrypt?: EncryptOptions | undefined;
  /**
   * Returns the delivery id. Default, and when it returns undefined or an empty string: the id that one of
   * {@link verifiers} finds in the signed part, else the id header of the sender's profile, else the header `webhook-id`,
   * else a generated id, with which duplicates are not detected.
   */
  id?: ((delivery: RawDelivery) => string | undefined) | undefined;
  /**
   * Returns the key of a delivery. Default, and when it returns undefined: the sender of one of {@link verifiers} with a
   * signed id, else the name of the sender that the headers identify, else `default`.
   */
  keyGenerator?: ((delivery: RawDelivery) => string | undefined) | undefined;
  /**
   * Answers handshakes that are recognized from their body and that a sender profile alone cannot answer, such as
   * Zoom's. Called after `verify`. When it returns undefined or null, the delivery is an ordinary one.
   */
  handshake?:
    | ((
        delivery: RawDelivery,
      ) => HandshakeReply | null | undefined | Promise<HandshakeReply | null | undefined>)
    | undefined;
  /** Called for each delivery that moves to the dead-letter queue because its last attempt failed, with the error. */
  onDead?: ((delivery: InboxDelivery, error: string) => unknown) | undefined;
  /**
   * Processes the deliveries of a key strictly first in, first out: one at a time across all processes on the store. A
   * failed delivery blocks those behind it until it is completed or a dead letter. Keys are independent. Must be the same
   * in all processes on one store, because the last one to start decides. Default false.
   */
  ordered?: boolean | undefined;
  /**
   * Returns the earliest time of the first attempt, as ms since 1970 or a `Date`, at most a year ahead. Until then the
   * delivery is stored and acknowledged, but not due. Synchronous, called after `verify`, before the delivery is stored.
   * In an ordered key, deliveries behind it wait as well. Default, and when it returns undefined or an earlier time:
   * immediately.
   */
  notBefore?: ((delivery: InboxDelivery) => number | Date | undefined) | undefined;
  /**
   * The time to live in milliseconds, from 1 to 31,536,000,000, or a synchronous function that returns it for a delivery,
   * where `Infinity` means no limit. A delivery whose first attempt has not started within it, since its receipt or the
   * time of `notBefore`, is not processed: it becomes a dead letter, with an error that begins with `Expired`. By the wall
   * clock. Does not limit retries. A redriven delivery is as old as before, so it expires again. Default: no limit.
   */
  ttlMs?: number | ((delivery: InboxDelivery) => number) | undefined;
  /**
   * Where the tokens of the rates of `limits` are kept, under `inbox:` and the key. `redisBuckets(client)`: one rate for all
   * processes; each process passes its own object. Default: each process has the rate for itself.
   */
  buckets?: Buckets | undefined;
  /** Sender profiles that are checked before the built-in ones, such as `known.mailgun`. Default none. */
  senders?: readonly SenderProfile[] | undefined;
  /**
   * The origins that the handshake of CloudEvents allows, as of the middleware: all (`*`), a list of DNS names in any case,
   * or a function that returns `true` for allowed ones. The answer has the drain rate, or is 403. Default `*`.
   */
  allowedOrigins?: AllowedOrigins | undefined;
  /** Reports refusals without applying them: accepts every delivery that the store can hold. Default false. */
  dryRun?: boolean | undefined;
  /** Returns the time of day that is stored, in milliseconds since 1970. Default `Date.now`. */
  wallClock?: (() => number) | undefined;
}

/**
 * The tunable options of an inbox that are in force, complete and as plain JSON data. `null` means none.
 */
export interface CurrentInboxOptions extends Omit<CurrentOptions, 'maxWaitMs' | 'overflow'> {
  /** The longest acceptable time in the inbox, in milliseconds. */
  readonly maxWaitMs: number | null;
  /** What happens above the high-water mark. */
  readonly overflow: 'refuse' | 'dead-letter';
  /** How failed deliveries are retried: all attempts, and the bounds of the delay in milliseconds. */
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  /** The status of acknowledgements: for senders known to accept any 2xx, and for all others. */
  readonly successStatus: { readonly known: number; readonly unknown: number };
  /** The largest accepted body, in bytes. */
  readonly maxBodyBytes: number;
  /** The most bytes that may be stored and unfinished. */
  readonly maxBytes: number;
  /** How long a completed id is remembered, in milliseconds. */
  readonly retentionMs: number;
  /** The most completed ids that are remembered. */
  readonly maxRemembered: number;
  /** The most dead letters. */
  readonly maxDeadLetters: number;
  /** The most bytes of dead letters. */
  readonly maxDeadLetterBytes: number;
  /** How long dead letters are kept, in milliseconds; null for ever. */
  readonly maxDeadLetterAgeMs: number | null;
  /** How long completed deliveries are kept with their bodies, in milliseconds. */
  readonly keepCompletedMs: number;
  /** The most bytes of kept completed deliveries. */
  readonly maxKeptBytes: number;
  /** `false` for none. */
}
