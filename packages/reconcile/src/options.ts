import {
  type Awaitable,
  by,
  checkBoolean,
  checkClock,
  checkFunction,
  checkObject,
  type Clock,
  type Complete,
  DAY_MS,
  invalid,
  milliseconds,
  resolve,
  type Rows,
  systemClock,
} from '@webhook-backpressure/base';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { Source } from './source.ts';

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** Where missed events go. Use the inbox that receives: only its options name an event as they name a delivery. */
  inbox: Inbox;
  /** `github()`, `stripe()`, or a function that lists events. */
  source: Source;
  /**
   * The time between two runs, ± 20 %, in milliseconds, from 10,000 to 86,400,000, and at most half of the `retentionMs` of the
   * inbox. Default 300,000 (five minutes).
   */
  everyMs?: number | undefined;
  /**
   * From when on the first run asks for events: a date, or a function that returns the `mark` of the last result that was
   * stored, or undefined. Later runs begin at the mark of the run before. Never before the time for which the inbox remembers
   * completed ids (`retentionMs`). Default, and for a date in the future: as far back as that.
   */
  since?: Date | (() => Awaitable<Date | undefined>) | undefined;
  /** Whether nothing is added, and the result and `missed` events say what is missing. Default false. */
  dryRun?: boolean | undefined;
  /** Makes the requests. Default: `globalThis.fetch` at the time of the request. */
  fetch?: typeof globalThis.fetch | undefined;
  /** The clock. Default: the clock of the system. */
  clock?: Clock | undefined;
  /** Returns the time in milliseconds since 1970. Default `Date.now`. */
  wallClock?: (() => number) | undefined;
  /** Returns a number from 0 to below 1. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** Checked options. */
export type Settings = Omit<Complete<ReconcileOptions>, 'since' | 'fetch'> & {
  readonly since: ReconcileOptions['since'];
  readonly fetch: ReconcileOptions['fetch'];
};

const CODE = 'ERR_WBP_RECONCILE';
const ROWS: Rows<Settings, ReconcileOptions> = {
  inbox: { check: checkInbox },
  source: { check: by(checkFunction, CODE) },
  everyMs: { default: 300_000, check: milliseconds(CODE, 10_000, DAY_MS) },
  since: { default: undefined, check: checkSince },
  dryRun: { default: false, check: by(checkBoolean, CODE) },
  fetch: { default: undefined, check: by(checkFunction, 'ERR_WBP_FETCH') },
  clock: { default: systemClock, check: checkClock },
  wallClock: { default: () => Date.now(), check: by(checkFunction, 'ERR_WBP_CLOCK') },
  random: { default: () => Math.random(), check: by(checkFunction, 'ERR_WBP_RANDOM') },
};

/** @throws BackpressureError with the code of the first invalid option. */
export function settingsOf(options: ReconcileOptions): Settings {
  const settings = resolve<Settings>(ROWS, options);
  const { inbox, everyMs } = settings;
  const { retentionMs } = inbox.snapshot().options;
  // Events before `retentionMs` are left out: those between two runs, or before one that was repeated.
  if (retentionMs >= 2 * everyMs) return settings;
  throw invalid(CODE, 'everyMs', `at most half of the inbox's retentionMs, ${String(retentionMs)}`, everyMs);
}

function checkInbox(given: unknown): void {
  checkObject(given, 'inbox', CODE);
  const { add, subscribe } = given as Partial<Inbox>;
  if (typeof add !== 'function' || typeof subscribe !== 'function')
    throw invalid(CODE, 'inbox', 'an inbox, such as webhookInbox().inbox', given);
}

export function isDate(given: unknown): given is Date {
  return given instanceof Date && !Number.isNaN(given.getTime());
}

function checkSince(given: unknown, name: string): void {
  if (!isDate(given) && typeof given !== 'function')
    throw invalid(CODE, name, 'a valid Date, or a function that returns one', given);
}
