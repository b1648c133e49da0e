import { invalid, isRecord } from '@webhook-backpressure/base';

const CODE = 'ERR_WBP_HISTORY';

/**
 * Something that happened, for `checkHistory`: a plain object. Only `type` and `atMs` are required. Types that are not listed
 * are ignored, except by `totals`, so the events of an inbox can be recorded as they are:
 * `inbox.subscribe((event) => history.push({ ...event, atMs: event.at }))`.
 *
 * A delivery is identified by `key` and `id`.
 *
 * - `stored`: the delivery was committed. `overflow`: as a dead letter.
 * - `acknowledged`, `duplicate`, `conflict`: its sender was answered with success.
 * - `started`: a handler was called for it, or an attempt of a sender was made.
 * - `ended`, `failed`, `released`, `lost`, `dead-letters-full`: that run is over, and the delivery is unfinished.
 * - `completed`, `dead`: that run is over, and the delivery is finished.
 * - `redriven`: it is unfinished again. Without `id`: any that were finished may be.
 * - `forgotten`, `discarded`, `purged`: it is deleted, and its id may be stored again. Without `id`: any finished ones are.
 * - `pending`: it was listed as unfinished, at the end of the history.
 * - `retry-after`: nothing of `key`, or with `id` not this delivery, may be started before `untilMs`.
 * - `died`: the process `worker` has ended, and its runs with it.
 * - `limits`: from now on these limits apply to all runs, or to those of `key`, of `worker`, or of both.
 * - `totals`: `counts` were reported.
 */
export interface HistoryEvent {
  /** One of the types above, or any other. */
  readonly type: string;
  /** When it happened, in milliseconds on one clock for all events. The order of events is that of the list. */
  readonly atMs: number;
  /** The key of the delivery. Absent or null: the key `''`. */
  readonly key?: string | null | undefined;
  /** The id of the delivery. */
  readonly id?: string | undefined;
  /** The process in which it happened. Absent: one process, without a name. */
  readonly worker?: string | undefined;
  /** Of `limits`: the most concurrent runs, an integer ≥ 0. Absent: unchanged. Null: no limit; that is how a history begins. */
  readonly concurrency?: number | null | undefined;
  /** Of `limits`, not with `worker`: the most unfinished deliveries, an integer ≥ 0. Absent: unchanged. Null: no limit. */
  readonly capacity?: number | null | undefined;
  /**
   * Of `limits`: in any time `t` at most `burst + perSecond × t` starts, a number above 0. Absent: unchanged. Null: no limit.
   */
  readonly perSecond?: number | null | undefined;
  /** Of `limits`, with `perSecond`: a number ≥ 1. Default 1. */
  readonly burst?: number | undefined;
  /** Of `limits`, not with `worker`: whether a key starts its deliveries in the order of `stored`, each after the one before is finished. */
  readonly ordered?: boolean | undefined;
  /** Of `limits`, alone: whether no delivery runs in two processes at the same time. */
  readonly exclusive?: boolean | undefined;
  /** Of `retry-after`: in milliseconds on the clock of `atMs`. */
  readonly untilMs?: number | undefined;
  /**
   * Of `totals`: how often events of each type have happened, in `worker` if it is given. `pending` stands for the unfinished
   * deliveries of all processes.
   */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

/**
 * What a history violates:
 *
 * - `lost`: an acknowledged or stored delivery is not finished, and not `pending` at the end
 * - `twice`: a delivery was stored or completed twice
 * - `settled`: something happened to a delivery after it was finished
 * - `running`: a delivery was started while it was running
 * - `foreign`: a result was reported by a worker that did not run the delivery, while another one did
 * - `order`: a delivery of an ordered key overtook another
 * - `capacity`, `concurrency`, `rate`: a limit was exceeded
 * - `retry-after`: a start was too early
 * - `totals`: reported counts are not those of the events
 */
export type HistoryRule =
  | ('lost' | 'twice' | 'settled' | 'running' | 'foreign' | 'order')
  | ('capacity' | 'concurrency' | 'rate' | 'retry-after' | 'totals');

/** A rule that a history violates. */
export interface HistoryViolation {
  /** The rule. */
  readonly rule: HistoryRule;
  /** What happened, as a sentence. */
  readonly message: string;
  /** The indices of the events that show it, in ascending order. */
  readonly events: readonly number[];
}

/** The types of which each event is about one delivery. */
export const OF_DELIVERIES: ReadonlySet<string> = new Set([
  ...[
    'stored',
    'overflow',
    'acknowledged',
    'duplicate',
    'conflict',
    'started',
    'completed',
    'dead',
    'pending',
  ],
  ...['ended', 'failed', 'released', 'lost', 'dead-letters-full'],
]);

/** An event of a history, after a check of what all of its type have. */
export function checked(event: unknown, at: number): HistoryEvent {
  const name = `events[${String(at)}]`;
  if (!isRecord(event)) throw invalid(CODE, name, 'an object', event);
  const { type, atMs, id, untilMs, worker, counts } = event;
  if (typeof type !== 'string') throw invalid(CODE, `${name}.type`, 'a string', type);
  if (!Number.isFinite(atMs)) throw invalid(CODE, `${name}.atMs`, 'a number', atMs);
  if (id === undefined && OF_DELIVERIES.has(type)) throw invalid(CODE, `${name}.id`, 'a string', id);
  if (type === 'retry-after' && !Number.isFinite(untilMs))
    throw invalid(CODE, `${name}.untilMs`, 'a number', untilMs);
  if (type === 'died' && typeof worker !== 'string')
    throw invalid(CODE, `${name}.worker`, 'a string', worker);
  if (type === 'totals' && !isRecord(counts)) throw invalid(CODE, `${name}.counts`, 'an object', counts);
  return event as unknown as HistoryEvent;
}
