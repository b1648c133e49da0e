import type { RequestHeaders } from '../senders/sender-profile.ts';
import type { IntakeState } from '../delivery/snapshot.ts';
import type { RefusalReason } from '../delivery/refusal.ts';
import type { Completed, Pending } from './delivery/content-types.ts';
import type { DeadLetters } from './delivery/dead-letter-types.ts';
import type { RequestParts } from './delivery/request-facts.ts';
import type { InboxListener } from './report/inbox-events.ts';
import type { InboxTunable } from './settings/inbox-options.ts';

/** Where the bytes of a body go. */
export interface BodySink {
  /** Takes the next bytes. False when no more is wanted: the reader stops. */
  add(chunk: Uint8Array): boolean;
}

/**
 * How the reading of a body ended.
 *
 * - `whole`: at its end, or where no more was wanted
 * - `gone`: its sender went away before
 * - `consumed`: somebody else has read it already
 */
export type BodyEnd = 'whole' | 'gone' | 'consumed';

/** A request, as an adapter shows it. */
export interface InboxRequest extends RequestParts {
  /** The request as the framework knows it, for the option `context`. */
  readonly source?: unknown;
  /** All headers, names in lower case. */
  readonly headers: RequestHeaders;
  /** Reads the body into the sink, until its end or until no more is wanted. Never rejects. */
  read(body: BodySink): Promise<BodyEnd>;
  /** What to do in this framework when something else has read the body before. */
  readonly hint: string;
}

/** What to answer to a request. */
export interface InboxAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What has happened since the inbox was made. */
export interface InboxTotals {
  readonly stored: number;
  readonly duplicate: number;
  /** Acknowledged as a duplicate, although its body differs from that of the first delivery of this id. */
  readonly conflict: number;
  /** Kept on the shelf with `overflow: 'dead-letter'`. */
  readonly overflow: number;
  /** In a dry run: let in all the same. */
  readonly refused: Readonly<Record<RefusalReason, number>>;
  /** Refused although their senders never try again. */
  readonly lossRisk: number;
  readonly unverified: number;
  readonly tooLarge: number;
  /** Attempts that were begun. */
  readonly started: number;
  /** Deliveries that were completed. */
  readonly completed: number;
  /** Attempts that failed, the last ones and the overdue ones included. */
  readonly failed: number;
  readonly overdue: number;
  /** Deliveries whose last attempt failed. */
  readonly dead: number;
  /** Last attempts that failed while the shelf was full, so that they are made again. */
  readonly shelfFull: number;
  /** Deliveries that were on the shelf for longer than `maxShelvedAgeMs`, and are gone. */
  readonly discarded: number;
  /** Claims that another process took over while their handlers ran. */
  readonly lost: number;
  /** Outages that began: of a key, or of everything. */
  readonly outages: number;
  readonly storeFailures: number;
}

/** The inbox at one moment. It is a copy and does not change. */
export interface InboxSnapshot {
  readonly state: IntakeState;
  /** Deliveries that are stored and unfinished. */
  readonly depth: number;
  /** Deliveries whose handlers run in this process. */
  readonly active: number;
  /** Bytes that are stored and unfinished. */
  readonly bytes: number;
  /** Deliveries on the shelf, as of the last few seconds. */
  readonly shelved: number;
  readonly shelvedBytes: number;
  /** Completed deliveries that are kept, as of the last few seconds. */
  readonly kept: number;
  readonly keptBytes: number;
  readonly capacity: number;
  /** Deliveries: the capacity, or with `maxWaitMs` the smaller of it and longest wait × drain rate. */
  readonly effectiveCapacity: number;
  readonly maxBytes: number;
  /** Deliveries: at this depth shedding begins. */
  readonly highWater: number;
  /** Deliveries: at this depth it ends. */
  readonly lowWater: number;
  readonly concurrency: number;
  /** Deliveries per second that the workers can complete; null before the first one. */
  readonly drainRate: number | null;
  /** Milliseconds since the oldest unfinished delivery was received, as of the last few seconds; 0 for none. */
  readonly oldestAgeMs: number;
  /** Refused deliveries that were given a second to come back and that are not due yet. */
  readonly booked: number;
  /** Keys that have something stored and unfinished. */
  readonly keys: number;
  /** For how long handlers of many keys have failed in a row, in milliseconds; null while there is no such outage. */
  readonly outageMs: number | null;
  /** Keys whose handlers fail in a row, while those of others may succeed. */
  readonly failingKeys: number;
  /** Whether everything is paused, as of the last few seconds. */
  readonly isPaused: boolean;
  /** Keys that are paused, as of the last few seconds. */
  readonly pausedKeys: readonly string[];
  readonly totals: InboxTotals;
}

/** What a shutdown came to, counted from the call of `close`. */
export interface InboxCloseReport {
  /** Attempts that ended, in success or failure. */
  readonly completed: number;
  /** Always 0: what is stored waits for the next start. */
  readonly refused: 0;
  /** Handlers that still ran at the timeout; their deliveries were given back. */
  readonly remaining: number;
}

/** Acknowledges deliveries when they are stored, and works them off. */
export interface Inbox {
  /**
   * Takes a delivery: resolves with the answer, or with null when its sender has gone. Rejects with what `context`, `id`,
   * `keyGenerator`, `redact` or `handshake` throws.
   *
   * @throws BackpressureError `ERR_WBP_BODY_READ` when something else has read the body before.
   */
  receive(request: InboxRequest): Promise<InboxAnswer | null>;
  snapshot(): InboxSnapshot;
  /**
   * Changes options while it runs: all that are given, or on an error none.
   *
   * @throws BackpressureError with the code of the first option that is wrong.
   */
  update(options: InboxTunable): void;
  /**
   * Stops to begin attempts of this key, or without a key of everything: deliveries are acknowledged and stored as before,
   * and handlers that run may finish. It holds until `resume`, over restarts, and for every process on the same store,
   * which obeys at its next claim. A key and everything are paused independently: what is paused in both ways needs both
   * to be resumed.
   *
   * Resolves when it is stored, also when it was paused before. Rejects with what the store throws.
   *
   * @param key - any string; at most 1,000 keys can be paused.
   * @throws BackpressureError `ERR_WBP_PAUSE` when it is no string, or when 1,000 other keys are paused. It rejects.
   */
  pause(key?: string): Promise<void>;
  /**
   * Ends a pause: of this key, or without a key that of everything, which leaves keys paused that were paused by name.
   * Another process on the same store notices within 5 s.
   *
   * @throws BackpressureError `ERR_WBP_PAUSE` when the key is no string. It rejects.
   */
  resume(key?: string): Promise<void>;
  /** Calls the listener at each event, in order, at once. Returns the function that ends it. */
  subscribe(listener: InboxListener): () => void;
  /**
   * Shuts down: new deliveries are refused, nothing more is claimed, handlers may finish until the timeout; then their
   * signals are aborted, and their deliveries given back. What is stored waits for the next start. A second call
   * returns the same report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<InboxCloseReport>;
  /** What is stored and unfinished. */
  readonly pending: Pending;
  /** What will not be tried again by itself. */
  readonly deadLetters: DeadLetters;
  /** What was completed, as far as it is kept (`keepCompletedMs`) or remembered (`retentionMs`). */
  readonly completed: Completed;
}
