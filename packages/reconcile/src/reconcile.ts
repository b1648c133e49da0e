import {
  errorMessageOf,
  holdTimer,
  inBackground,
  invalid,
  invalidResult,
  monotonic,
  showWarning,
  unlessAborted,
} from '@webhook-backpressure/base';
import { type EventBody, Listeners, measuring } from '@webhook-backpressure/core/extend';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import { isBuilding, withCode } from '@webhook-backpressure/inbox/store';
import type { ReconcileEvent, ReconcileListener, ReconcileResult } from './events.ts';
import { isDate, type ReconcileOptions, type Settings, settingsOf } from './options.ts';
import { Run } from './run.ts';
import { RunFetch } from './run-fetch.ts';

/** Fetches missed events until it is closed. */
export interface Reconciler {
  /**
   * Runs now, or after the run in progress; calls before that begins share the run. Never rejects: `error` of the result says
   * why a run has failed.
   */
  run(): Promise<ReconcileResult>;
  /** Calls the listener synchronously with each event. Returns a function that ends the subscription. */
  subscribe(listener: ReconcileListener): () => void;
  /** Ends the run in progress, and makes no further one. The same happens when the inbox closes. */
  close(): Promise<void>;
}

/** Clocks of one API differ, and an event may be listed later than it happened. */
const OVERLAP_MS = 300_000;
/** After a refusal, so that one run finds what was refused in a minute. */
const SOON_MS = 60_000;
/** After a failed run; doubled after each further one, up to `everyMs`. */
const FIRST_RETRY_MS = 30_000;

/**
 * Fetches the events that a sender could not deliver, and adds them to an inbox: when the inbox is open, every `everyMs`, and
 * about a minute after a delivery was refused or the store has recovered. Events that the inbox has, or has completed, are
 * left out, so it may run in many processes.
 *
 * @param options - see {@link ReconcileOptions}.
 * @throws BackpressureError with the code of the first invalid option.
 *
 * @example
 * ```ts
 * reconcile({ inbox, source: github({ token, hook: '/repos/acme/shop/hooks/1' }) })
 * ```
 */
export function reconcile(options: ReconcileOptions): Reconciler {
  return new InboxReconciler(settingsOf(options));
}

interface Wanted {
  readonly promise: Promise<ReconcileResult>;
  readonly resolve: (result: ReconcileResult) => void;
}

class InboxReconciler implements Reconciler {
  readonly #settings: Settings;
  readonly #now: () => number;
  readonly #fetch: RunFetch;
  readonly #end = new AbortController();
  readonly #listeners = new Listeners<ReconcileEvent>();
  readonly #skipped = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #unsubscribe: () => void;
  /** Kinds of warnings: each once, that of a failed run again after a run that has not failed. */
  readonly #warned = new Set<string>();
  #isOpen = false;
  #mark: Date | undefined;
  /** The run that has not begun. */
  #wanted: Wanted | undefined;
  #running: Promise<void> | undefined;
  /** Whether something was refused since the run began. */
  #isNeeded = false;
  #failures = 0;
  #timer: unknown;
  #timerAtMs = Infinity;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#now = monotonic(settings.clock);
    this.#fetch = new RunFetch({ ...settings, sleep: this.#sleep });
    this.#unsubscribe = settings.inbox.subscribe(measuring(this.#onInboxEvent));
    inBackground(this.run());
    inBackground(
      settings.inbox.opened.then(() => {
        // Its event was before the subscription.
        if (settings.inbox.snapshot().state === 'closed') return this.close();
        // The store stays closed in the build of an app, and nothing is fetched for it.
        this.#isOpen = !isBuilding();
        this.#begin();
        return undefined;
      }),
    );
  }

  run(): Promise<ReconcileResult> {
    if (this.#end.signal.aborted) return Promise.resolve(this.#closedResult());
    if (this.#wanted === undefined) {
      let settle: Wanted['resolve'] = () => undefined;
      const promise = new Promise<ReconcileResult>((done) => (settle = done));
      this.#wanted = { promise, resolve: settle };
    }
    const { promise } = this.#wanted;
    this.#begin();
    return promise;
  }

  subscribe(listener: ReconcileListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#end.abort(new Error('The reconciler is closed.'));
    this.#unsubscribe();
    this.#settings.clock.clearTimeout(this.#timer);
    this.#wanted?.resolve(this.#closedResult());
    this.#wanted = undefined;
    await this.#running;
  }

  #begin(): void {
    const wanted = this.#wanted;
    if (!this.#isOpen || this.#running !== undefined || wanted === undefined) return;
    this.#wanted = undefined;
    this.#settings.clock.clearTimeout(this.#timer);
    this.#timerAtMs = Infinity;
    this.#isNeeded = false;
    this.#running = this.#run().then((result) => {
      this.#running = undefined;
      this.#failures = result.error === undefined ? 0 : this.#failures + 1;
      this.#emit({ type: 'run', result });
      wanted.resolve(result);
      this.#plan(this.#delayMs());
      if (this.#isNeeded) this.#plan(SOON_MS);
      this.#begin();
    });
  }

  async #run(): Promise<ReconcileResult> {
    const { inbox, source, dryRun } = this.#settings;
    const { signal } = this.#end;
    const beganMs = this.#now();
    const wallMs = this.#settings.wallClock();
    const fetch = this.#fetch;
    fetch.begin();
    const tools = { signal, fetch: fetch.fetch };
    const emit = this.#emit;
    const ids = { skipped: this.#skipped, failed: this.#failed };
    const run = new Run({ inbox, source, tools, dryRun, ...ids, sleep: this.#sleep, emit });
    // Of an own clock that is behind, ids would seem to be remembered for longer.
    const behindMs = (): number => Math.max(0, (fetch.dateMs ?? wallMs) - wallMs);
    const { retentionMs } = inbox.snapshot().options;
    const floorMs = (): number => this.#settings.wallClock() + behindMs() - retentionMs;
    let since = new Date(floorMs());
    let hasEnded = false;
    try {
      const given = this.#mark ?? (await unlessAborted(signal, this.#givenSince()));
      // The clock that set a time in the future was wrong.
      if (given !== undefined && given.getTime() <= wallMs)
        since = new Date(Math.max(since.getTime(), given.getTime()));
      await run.take(since, floorMs);
      hasEnded = true;
    } catch (error) {
      run.error = errorMessageOf(error);
    }
    // An own clock that is ahead must not leave out what happens in between.
    const markMs = Math.min(wallMs, fetch.dateMs ?? wallMs, run.unsettledMs) - OVERLAP_MS;
    const isDone = hasEnded && !dryRun;
    const mark = isDone ? new Date(Math.max(since.getTime(), markMs)) : since;
    // After a failed first run, `since` is asked for again.
    if (isDone) this.#mark = mark;
    const { found, missed, added, requested, skipped, error } = run;
    const counts = { found, missed, added, requested, skipped, requests: fetch.requests };
    return { since, mark, ...counts, tookMs: this.#now() - beganMs, error };
  }

  async #givenSince(): Promise<Date | undefined> {
    const { since } = this.#settings;
    const given = typeof since === 'function' ? await since() : since;
    if (given !== undefined && !isDate(given))
      throw invalidResult('ERR_WBP_RECONCILE', 'since', 'a valid Date, or undefined', given);
    return given;
  }

  #delayMs(): number {
    const { everyMs } = this.#settings;
    return this.#failures === 0 ? everyMs : Math.min(everyMs, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
  }

  /** Runs after about this time, unless a run is planned earlier. */
  #plan(ms: number): void {
    const { clock, random } = this.#settings;
    if (this.#end.signal.aborted) return;
    const delayMs = jittered(ms, random);
    const atMs = this.#now() + delayMs;
    if (atMs >= this.#timerAtMs) return;
    clock.clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = clock.setTimeout(() => {
      inBackground(this.run());
    }, delayMs);
  }

  readonly #onInboxEvent = ({ type }: InboxEvent): void => {
    if (type === 'closed') inBackground(this.close());
    if (type !== 'refused' && type !== 'store-recovered') return;
    this.#isNeeded = true;
    if (this.#running === undefined && this.#isOpen) this.#plan(SOON_MS);
  };

  readonly #sleep = (ms: number): Promise<void> => {
    const { clock, random } = this.#settings;
    const { signal } = this.#end;
    return new Promise((done, reject) => {
      const end = (): void => {
        clock.clearTimeout(timer);
        reject(signal.reason as Error);
      };
      const timer = clock.setTimeout(
        () => {
          signal.removeEventListener('abort', end);
          done();
        },
        jittered(ms, random),
      );
      // A program may wait for nothing else than this run.
      holdTimer(timer);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  };

  readonly #emit = (event: EventBody<ReconcileEvent>): void => {
    const { anyReporting: hasListener } = this.#listeners;
    if (hasListener) this.#listeners.emit(this.#now(), event);
    else if (event.type === 'skipped') {
      const why = `A missed event cannot be added to the inbox${reasonOf(event.error)}.`;
      this.#warn('WBP_RECONCILE_SKIPPED', why);
    } else if (event.type === 'run') {
      const { error } = event.result;
      if (error === undefined) this.#warned.delete('WBP_RECONCILE_FAILED');
      else this.#warn('WBP_RECONCILE_FAILED', `A run of reconcile() has failed${reasonOf(error)}.`);
    }
  };

  #warn(code: string, message: string): void {
    if (this.#end.signal.aborted || this.#warned.has(code)) return;
    this.#warned.add(code);
    showWarning(code, `${message} Log the events of reconciler.subscribe() to see each with its message.`);
  }

  #closedResult(): ReconcileResult {
    const since = this.#mark ?? new Date(0);
    const counts = { found: 0, missed: 0, added: 0, requested: 0, skipped: 0, requests: 0 };
    return { since, mark: since, ...counts, tookMs: 0, error: 'The reconciler is closed.' };
  }
}

/** ± 20 %, so that processes do not run together. */
function jittered(ms: number, random: () => number): number {
  return ms * (0.8 + 0.4 * random());
}

/** Of other errors only a code: they may quote an event or a secret. */
function reasonOf(error: string): string {
  return error.includes('(ERR_WBP_RECONCILE_') ? `: ${error}` : withCode(error);
}
